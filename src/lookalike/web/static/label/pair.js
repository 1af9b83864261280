// The pairs of this page: one is shown, the next ones are loaded, the last ones can come back by undo.
const RETRY = 2_000, KEPT = 20;

export class Deck {
  constructor(stage, place, hooks) {
    this.stage = stage;
    this.hooks = hooks;
    this.current = null;
    this.upcoming = [];
    this.nodes = new Map(); // token -> what shows the pair
    this.place = `lookalike last ${place}`;
    this.past = JSON.parse(sessionStorage.getItem(this.place) ?? "[]");
  }

  get last() { return this.past.at(-1) ?? null; }
  get visible() { return Boolean(this.current) && this.nodes.get(this.current.token)?.state === "ready"; }

  // Take over the pairs that the server reserves for us, without those already answered. The shown pair stays if it is among them.
  merge(given, outbox) {
    const answered = outbox.answered();
    const ours = given.filter((pair) => !answered.has(pair.token));
    const token = this.current?.token;
    const stays = token && (ours.some((pair) => pair.token === token) || outbox.undoing(token));
    this.upcoming = ours.filter((pair) => pair.token !== token);
    for (const pair of this.upcoming) this.load(pair);
    if (!stays) this.show(this.upcoming.shift() ?? null);
    this.tidy();
  }

  // Remove pairs that were answered here or in another tab.
  drop(outbox) {
    const answered = outbox.answered();
    this.upcoming = this.upcoming.filter((pair) => !answered.has(pair.token));
    if (this.current && answered.has(this.current.token)) this.show(this.upcoming.shift() ?? null);
  }

  remember(pair) {
    this.past = [...this.past, pair].slice(-KEPT);
    this.keep();
  }

  back() {
    const pair = this.past.pop();
    this.keep();
    if (this.current) this.upcoming.unshift(this.current);
    this.show(pair);
  }

  renew(old, pair) {
    const node = this.nodes.get(old);
    if (this.current?.token === old) this.current = pair;
    this.past = this.past.map((one) => (one.token === old ? pair : one));
    this.keep();
    if (node) { this.nodes.delete(old); this.nodes.set(pair.token, node); }
  }

  // The server refused this pair: do not show it again, and do not offer to undo it.
  giveUp(entry) {
    if (!entry) return;
    this.past = this.past.filter((pair) => pair.token !== entry.token);
    this.keep();
    if (this.current?.token === entry.token) this.show(this.upcoming.shift() ?? null);
    else this.hooks.shown(this.current);
  }

  show(pair) {
    this.current = pair;
    this.stage.replaceChildren(...(pair ? [this.load(pair).element] : []));
    this.hooks.shown(pair);
  }

  load(pair) {
    let node = this.nodes.get(pair.token);
    if (!node) {
      node = new Pair(pair, this.hooks);
      this.nodes.set(pair.token, node);
    }
    return node;
  }

  tidy() {
    const near = new Set([this.current, ...this.upcoming, ...this.past.slice(-2)].filter(Boolean).map((pair) => pair.token));
    for (const token of this.nodes.keys()) if (!near.has(token)) this.nodes.delete(token);
  }

  keep() { sessionStorage.setItem(this.place, JSON.stringify(this.past)); }
}

class Pair {
  constructor(pair, hooks) {
    this.element = document.createElement("div");
    this.element.className = "pair";
    this.state = "loading";
    const sides = [["Left photo", pair.left], ["Right photo", pair.right]];
    const photos = sides.map(([words, photo]) => new Photo(words, photo, hooks));
    this.element.append(...photos.map((photo) => photo.element));
    this.settled = Promise.all(photos.map((photo) => photo.ready)).then((all) => { this.state = all.every(Boolean) ? "ready" : "missing"; });
  }
}

class Photo {
  constructor(words, photo, hooks) {
    this.element = document.createElement("figure");
    this.element.className = "photo";
    this.words = words;
    this.photo = photo;
    this.hooks = hooks;
    this.ready = this.load();
  }

  // Fetch first, to distinguish a missing photo from a missing network. Then decode the picture from the browser's cache
  // before it is needed.
  async load() {
    this.show(`${this.words}: loading…`);
    for (;;) {
      try {
        const answer = await fetch(this.photo.url, { credentials: "same-origin" });
        if (answer.status === 404) return this.missing();
        if (!answer.ok) throw new Error(String(answer.status));
        await answer.blob();
        const image = new Image();
        image.alt = this.words;
        image.draggable = false;
        image.dataset.zoom = this.photo.zoom_url;
        image.src = this.photo.url;
        await image.decode();
        this.element.replaceChildren(image);
        return true;
      } catch {
        await new Promise((go) => setTimeout(go, RETRY));
      }
    }
  }

  missing() {
    const box = this.show(`${this.words}: the file is missing or damaged.`);
    box.append(document.createElement("br"), button("Skip this pair", (event) => this.hooks.skip(event.timeStamp)), button("Report to leads", async (event) => {
      const answer = await this.hooks.missing(this.photo.image).catch(() => null);
      event.target.textContent = answer?.status === 200 ? "Reported in the audit log" : "Not sent. Try again";
      event.target.disabled = answer?.status === 200;
    }));
    return false;
  }

  show(words) {
    const box = document.createElement("div");
    box.className = "why";
    box.append(words);
    this.element.replaceChildren(box);
    return box;
  }
}

function button(words, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "second small";
  made.textContent = words;
  made.addEventListener("click", act);
  return made;
}
