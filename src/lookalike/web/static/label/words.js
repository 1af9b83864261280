// The sentences of the page.
import { goal } from "../goal.js";

const by = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const MOMENT = 1_500;
const TITLE = {
  network: "Waiting for the network", server: "Waiting for the server", login: "You are logged out", page: "This page has expired",
};
const LINK = { login: ["/login?next=/label", "Log in"], page: ["/label", "Reload the page"] };
const ROOMY = matchMedia("(min-width: 721px) and (min-height: 481px)"); // elsewhere a notice begins with one line
const LATE = ["full", "closed", "taken"]; // why an answer is refused that came too late
let late = 0;

export function progress(figures) {
  goal(figures);
  by("progress-open").textContent = count(figures.open, "pair");
}

// Why no pair is shown.
export function nothing(figures, outbox) {
  by("nothing").hidden = !figures;
  if (!figures) return;
  const title = TITLE[outbox.trouble];
  const loading = !outbox.trouble && outbox.entries().length > 0;
  by("nothing").dataset.why = outbox.trouble ?? (loading ? "loading" : "done");
  by("nothing-title").textContent = title ?? (loading ? "Loading the next pair…" : "No pairs for you at the moment");
  by("nothing-words").textContent = title
    ? `You have answered all loaded pairs. ${stored(outbox)}${reserved(outbox, [])}${LINK[outbox.trouble] ? "" : "The page continues when the connection is back."}`
    : `Waiting for other annotators: ${count(figures.open, "pair")}. In discussion: ${count(figures.discussion, "pair")}.`;
  by("nothing-words").hidden = loading;
  by("nothing-then").hidden = Boolean(title) || loading;
}

// Says nothing while answers are sent as usual; says why once they cannot be sent, and what becomes of the reserved pairs.
export function waiting(outbox, pairs) {
  const box = by("waiting"), trouble = outbox.trouble, begins = box.hidden;
  const isKnown = !pairs.length && !(trouble in LINK); // `nothing` says it in the middle of the page
  box.hidden = !trouble || isKnown || (trouble === "server" && outbox.entries().length === 0);
  if (box.hidden) return;
  if (begins || trouble in LINK) box.open = trouble in LINK || ROOMY.matches;
  by("waiting-words").textContent = `${TITLE[trouble]}. ${stored(outbox)}`;
  by("waiting-more").replaceChildren(...(trouble in LINK ? [link(...LINK[trouble]), " to continue."] : [reserved(outbox, pairs)]));
}

function stored(outbox) {
  const answers = outbox.entries().length;
  return answers ? `Not sent yet, kept in this browser: ${count(answers, "answer")}. ` : "";
}

// Until when the pairs here, and those whose answers wait, are reserved for this annotator.
function reserved(outbox, pairs) {
  const ends = [...pairs, ...outbox.entries()].map((one) => one.until).filter(Boolean);
  if (!ends.length) return "";
  const until = Math.min(...ends);
  const time = new Date(until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return `Your pairs ${until > Date.now() ? "are" : "were"} reserved until ${time}. Later answers count only if a pair still needs one. `;
}

export function refused(entry, error) {
  const isLate = entry?.kind === "answer" && LATE.includes(error?.code);
  late += isLate;
  const what = !entry ? "" : entry.kind === "undo" ? "Undo failed. " : `The answer “${entry.answer}” was not accepted. `;
  const box = document.createElement("div");
  box.className = "failure";
  const words = document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = isLate ? `${count(late, "late answer")} not counted.` : what + (error?.problem ?? "The server refused the request.");
  if (isLate) strong.dataset.late = late;
  words.append(strong, isLate ? " Others answered in the meantime, or the pair was closed." : ` ${error?.fix ?? "Continue with the next pair."}`);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "second small";
  close.textContent = "Close";
  close.addEventListener("click", () => { box.remove(); if (isLate) late = 0; });
  box.append(words, close);
  by("refusals").replaceChildren(box);
}

// Shows for a moment that an answer was dropped.
export function early() {
  const box = by("early");
  box.hidden = false;
  box.getAnimations().forEach((one) => { one.cancel(); one.play(); });
  clearTimeout(early.timer);
  early.timer = setTimeout(() => { box.hidden = true; }, MOMENT);
  announce(box.textContent);
}

export function announce(words) { by("announcement").textContent = words; }

function count(amount, word) { return `${number(amount)} ${word}${amount === 1 ? "" : "s"}`; }

function link(address, words) {
  const made = document.createElement("a");
  made.href = address;
  made.textContent = words;
  return made;
}
