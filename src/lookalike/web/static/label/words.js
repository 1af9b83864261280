// What the page says in words.
const by = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const WHY = {
  network: "The network is away; they are sent when it is back. You can go on, and close the page.",
  server: "The server does not answer at the moment; they are sent again soon. You can go on.",
};

export function progress(figures) {
  const parts = [`${number(figures.today)} today, ${number(figures.answered)} in all`, `${number(figures.open)} pairs open for everybody`];
  if (figures.per_hour) parts.push(`${number(Math.round(figures.per_hour))} an hour`);
  by("progress-words").textContent = parts.join(" · ");
}

export function nothing(figures) {
  by("nothing").hidden = !figures;
  if (!figures) return;
  const open = figures.open === 0 ? "No pair is open" : `${count(figures.open, "pair")} that you answered, or that others hold, ${figures.open === 1 ? "waits" : "wait"} for the answers of others`;
  const discussed = figures.discussion === 0 ? "none is in discussion" : `${number(figures.discussion)} ${figures.discussion === 1 ? "is" : "are"} in discussion`;
  by("nothing-words").textContent = `${open}; ${discussed}.`;
}

// Quiet while answers are on their way as usual; words once something keeps them.
export function waiting(outbox) {
  const box = by("waiting");
  const answers = outbox.entries().length;
  box.hidden = !outbox.trouble || (answers === 0 && outbox.trouble === "server");
  if (box.hidden) return;
  const kept = answers === 0 ? "" : `${count(answers, "answer")} ${answers === 1 ? "waits" : "wait"} to be sent. `;
  box.replaceChildren(kept);
  if (outbox.trouble === "login") box.append("You have been logged out. ", link("/login?next=/label", "Log in"), "; nothing is lost.");
  else if (outbox.trouble === "page") box.append("This page has expired. ", link("/label", "Load it again"), "; nothing is lost.");
  else box.append(answers ? WHY[outbox.trouble] : "The network is away. You can go on; your answers are kept here.");
}

export function refused(entry, error) {
  const what = !entry ? "" : entry.kind === "undo" ? "Undo: " : `Your answer “${entry.answer}”: `;
  const box = document.createElement("div");
  box.className = "failure";
  const words = document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = what + (error?.problem ?? "The server refused it.");
  words.append(strong, ` ${error?.fix ?? "Go on with the next pair."}`);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "second small";
  close.textContent = "Close";
  close.addEventListener("click", () => box.remove());
  box.append(words, close);
  by("refusals").replaceChildren(box);
}

export function said(words) { by("said").textContent = words; }

function count(amount, word) { return `${number(amount)} ${word}${amount === 1 ? "" : "s"}`; }

function link(address, words) {
  const made = document.createElement("a");
  made.href = address;
  made.textContent = words;
  return made;
}
