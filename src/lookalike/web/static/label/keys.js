// Keys. A key held down answers once. Keys with Ctrl, Alt or Meta stay the browser's.
const SAY = { ArrowRight: "similar", s: "similar", j: "similar", ArrowLeft: "dissimilar", d: "dissimilar", ArrowDown: "unsure", u: "unsure", " ": "skip", n: "skip" };
const PAN = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const PLACE = "lookalike letters";
const guide = document.getElementById("guide-box"), keys = document.getElementById("keys-box");
const letters = document.getElementById("letters");

// `says`: what keys answer. `reason` takes the keys that it wants before all others.
export function listen({ says = SAY, say, undo, reason = () => false, zoom, pan }) {
  prepare();
  keepFocus();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (guide.open || keys.open) return closeBy(event, key);
    if (taken(event.target, key) || (isLetter(key) && !letters.checked)) return;
    if (!event.shiftKey && !event.repeat && reason(key, event.timeStamp)) event.preventDefault();
    else if (event.shiftKey && PAN[key]) pan(...PAN[key]);
    else if (event.shiftKey && key !== "?") return;
    else if (act(key, event, { says, say, undo, zoom })) event.preventDefault();
  });
}

function act(key, event, { says, say, undo, zoom }) {
  const deed = {
    z: undo, Backspace: undo, x: zoom, Enter: zoom, g: () => guide.showModal(), "?": () => keys.showModal(),
    ...Object.fromEntries(Object.entries(says).map(([name, answer]) => [name, () => say(answer, event.timeStamp)])),
  }[key];
  if (deed && !event.repeat) deed();
  return Boolean(deed);
}

function closeBy(event, key) {
  const box = guide.open ? guide : keys;
  if (key !== (guide.open ? "g" : "?")) return;
  event.preventDefault();
  box.close();
}

// Buttons and links keep Enter and Space; fields keep all keys.
function taken(target, key) {
  if (target.closest("input:not([type=checkbox]), textarea, select")) return true;
  return (key === "Enter" || key === " ") && Boolean(target.closest("button, a, summary, input"));
}

// After a click the stage has the focus, so Space and Enter answer and zoom. A button reached by Tab keeps them.
function keepFocus() {
  document.getElementById("labelling").addEventListener("mousedown", (event) => {
    if (!event.target.closest("button, .button, summary")) return;
    event.preventDefault();
    document.getElementById("stage").focus({ preventScroll: true });
  });
}

function isLetter(key) { return key.length === 1 && !/[ \d]/.test(key); }

function prepare() {
  letters.checked = localStorage.getItem(PLACE) !== "off";
  letters.addEventListener("change", () => localStorage.setItem(PLACE, letters.checked ? "on" : "off"));
  for (const [id, box] of [["guide", guide], ["keys", keys]]) {
    const button = document.getElementById(id);
    button.hidden = false;
    button.addEventListener("click", (event) => { event.preventDefault(); box.showModal(); });
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  }
}
