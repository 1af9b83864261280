// The sentences of the page.
const by = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const MOMENT = 1_500;
const WHY = {
  network: "No network connection. The page sends them when the connection is back. You can continue, or close the page.",
  server: "The server does not respond. The page sends them again soon. You can continue.",
};

export function progress(figures) {
  const parts = [`${number(figures.today)} today`, `${number(figures.answered)} in total`];
  if (figures.per_hour) parts.push(`${number(Math.round(figures.per_hour))} per hour`);
  by("progress-words").textContent = `Your answers: ${parts.join(", ")} · Open for the team: ${count(figures.open, "pair")}`;
}

export function nothing(figures) {
  by("nothing").hidden = !figures;
  if (!figures) return;
  by("nothing-words").textContent = `Waiting for other annotators: ${count(figures.open, "pair")}. In discussion: ${count(figures.discussion, "pair")}.`;
}

// Says nothing while answers are sent as usual; says why once they cannot be sent.
export function waiting(outbox) {
  const box = by("waiting");
  const answers = outbox.entries().length;
  box.hidden = !outbox.trouble || (answers === 0 && outbox.trouble === "server");
  if (box.hidden) return;
  const kept = answers === 0 ? "" : `${count(answers, "answer")} not sent yet. `;
  box.replaceChildren(kept);
  if (outbox.trouble === "login") box.append("You are logged out. ", link("/login?next=/label", "Log in"), " to continue. No answer is lost.");
  else if (outbox.trouble === "page") box.append("This page has expired. ", link("/label", "Reload the page"), " to continue. No answer is lost.");
  else box.append(answers ? WHY[outbox.trouble] : "No network connection. You can continue: this browser keeps your answers.");
}

export function refused(entry, error) {
  const what = !entry ? "" : entry.kind === "undo" ? "Undo failed. " : `The answer “${entry.answer}” was not accepted. `;
  const box = document.createElement("div");
  box.className = "failure";
  const words = document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = what + (error?.problem ?? "The server refused the request.");
  words.append(strong, ` ${error?.fix ?? "Continue with the next pair."}`);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "second small";
  close.textContent = "Close";
  close.addEventListener("click", () => box.remove());
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
