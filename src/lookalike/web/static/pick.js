// Chooses images by words: a list of photos below each field, for keys and for clicks. Without it, ids are typed.
import { call } from "./label/call.js";

const PAUSE = 150; // milliseconds without typing before a search

class Picker {
  constructor(field) {
    [this.input, this.chosen] = field.querySelectorAll("input");
    this.list = document.createElement("ul");
    Object.assign(this.list, { className: "pick-found", id: `found-${this.input.id}`, hidden: true });
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Photos");
    this.photo = Object.assign(document.createElement("img"), { alt: "Chosen photo", hidden: true });
    field.append(this.list, this.photo);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": this.list.id })) this.input.setAttribute(name, value);
    this.turn = 0;
    this.input.addEventListener("input", () => { this.chosen.value = ""; this.photo.hidden = true; this.search(); });
    this.input.addEventListener("click", () => { if (this.list.hidden) this.search(0); });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.close());
    this.list.addEventListener("mousedown", (event) => { event.preventDefault(); this.take(event.target.closest("li")); });
  }

  get options() { return [...this.list.children]; }
  get at() { return this.options.findIndex((one) => one.ariaSelected === "true"); }

  search(pause = PAUSE) {
    const mine = ++this.turn;
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const { status, content } = await call(`/api/gold/images?search=${encodeURIComponent(this.input.value)}`).catch(() => ({}));
      if (mine === this.turn && status === 200 && document.activeElement === this.input) this.show(content);
    }, pause);
  }

  show(found) {
    this.list.replaceChildren(...found.map((one, at) => {
      const option = document.createElement("li");
      Object.assign(option, { id: `${this.list.id}-${at}`, found: one, ariaSelected: "false" });
      option.setAttribute("role", "option");
      option.append(Object.assign(document.createElement("img"), { src: one.small_url, alt: "" }), [one.image, one.category].filter(Boolean).join(" · "));
      return option;
    }));
    this.open(found.length > 0);
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    this.input.ariaExpanded = String(isOpen);
    this.input.removeAttribute("aria-activedescendant");
  }

  close() { this.turn += 1; this.open(false); }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], { options, at } = this;
    if (step && this.list.hidden) this.search(0);
    else if (step && options.length) this.mark((at + step + options.length + (at < 0 && step < 0)) % options.length);
    else if (event.key === "Enter" && !this.list.hidden && at >= 0) this.take(options[at]);
    else if (event.key === "Escape" && !this.list.hidden) this.close();
    else return;
    event.preventDefault();
  }

  mark(at) {
    this.options.forEach((one, place) => { one.ariaSelected = String(place === at); });
    this.input.setAttribute("aria-activedescendant", this.options[at].id);
    this.options[at].scrollIntoView({ block: "nearest" });
  }

  take(option) {
    if (!option) return;
    this.input.value = option.found.image;
    this.chosen.value = encodeURIComponent(option.found.image);
    Object.assign(this.photo, { src: option.found.small_url, hidden: false });
    this.close();
  }
}

for (const field of document.querySelectorAll("[data-pick]")) new Picker(field);
