// The reason for an answer. It is asked after the answer's key, so an answer takes at most one key more.
import { announce } from "./words.js";

const box = document.getElementById("why"), answers = document.getElementById("answers");
const line = box.querySelector(".why-line"), text = document.getElementById("why-text");
const reasons = box.querySelector(".reasons"), buttons = [...reasons.children];
const ASKED = { never: [], unsure: ["unsure"], always: ["unsure", "similar", "dissimilar"] };
const KEY = { similar: "→", dissimilar: "←", unsure: "↓" };

export class Why {
  constructor(when, say) {
    this.asked = ASKED[when];
    this.say = say; // answer, time, reason
    this.answer = null;
    for (const button of buttons) button.addEventListener("click", (event) => this.press(button, event.timeStamp));
    document.getElementById("why-back").addEventListener("click", () => this.close());
    box.addEventListener("submit", (event) => { event.preventDefault(); this.done(text.value, event.timeStamp); });
    text.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
  }

  // Whether the answer waits for its reason. The same answer again goes without one.
  asks(answer) {
    if (answer === this.answer || !this.asked.includes(answer)) return false;
    const byTab = answers.contains(document.activeElement) || box.contains(document.activeElement);
    this.answer = answer;
    this.show(false);
    document.getElementById("why-title").textContent = `Why ${answer}?`;
    document.getElementById("why-again").textContent = KEY[answer];
    box.hidden = false;
    answers.classList.add("asking");
    if (byTab) buttons[0].focus();
    announce(`Why ${answer}? ${buttons.map((button, at) => button.dataset.reason && `${at + 1} ${button.dataset.reason}`).filter(Boolean).join(", ")}.`);
    return true;
  }

  // Takes the keys of the reasons while they are asked.
  takes(key, at) {
    if (!this.answer) return false;
    const back = ["Escape", "Backspace", "z"].includes(key);
    const button = buttons[Number(key) - 1];
    if (back) this.close();
    else if (button && button.dataset.reason !== "") this.press(button, at);
    return back || Boolean(button);
  }

  press(button, at) {
    if (button.id !== "why-own") { this.done(button.dataset.reason, at); return; }
    this.show(true);
    text.value = "";
    text.focus();
  }

  show(inWords) {
    line.hidden = !inWords;
    reasons.hidden = inWords;
  }

  done(reason, at) {
    const answer = this.answer;
    if (answer) this.say(answer, at, reason);
  }

  close() {
    if (!this.answer) return;
    const inside = box.contains(document.activeElement);
    this.answer = null;
    box.hidden = true;
    answers.classList.remove("asking");
    if (inside) document.getElementById("stage").focus({ preventScroll: true });
  }
}
