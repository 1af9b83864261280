// Suggests a break after some time of work. A pause of five minutes is a break. The time worked survives a reload.
const MINUTE = 60_000, REST = 5 * MINUTE;

export class Pace {
  constructor(place, minutes) {
    this.place = `lookalike work ${place}`;
    this.minutes = minutes;
    this.box = document.getElementById("break");
    this.work = JSON.parse(localStorage.getItem(this.place) ?? "null") ?? { since: Date.now(), last: Date.now() };
    document.getElementById("break-done").addEventListener("click", () => this.dismiss());
  }

  worked() {
    const now = Date.now();
    const rested = now - this.work.last > REST || now < this.work.last;
    this.work = { since: rested ? now : this.work.since, last: now };
    this.keep();
    const minutes = Math.floor((now - this.work.since) / MINUTE);
    if (rested) this.box.hidden = true;
    if (this.minutes && minutes >= this.minutes && this.box.hidden) {
      document.getElementById("break-words").textContent = `You have worked for ${minutes} minutes. A short break helps you judge well. The page keeps your place.`;
      this.box.hidden = false;
    }
  }

  dismiss() {
    this.box.hidden = true;
    this.work.since = Date.now();
    this.keep();
    document.getElementById("stage").focus({ preventScroll: true });
  }

  keep() { localStorage.setItem(this.place, JSON.stringify(this.work)); }
}
