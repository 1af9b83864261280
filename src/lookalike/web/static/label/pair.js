// The pairs of this page: one is shown, the next ones are loaded, the last ones can come back by undo.
import { Pair } from "./photo.js";

const RETRY = 2_000, KEPT = 20, NEAR = 4; // NEAR: pairs whose photos are decoded, which takes memory

export class Deck {
  constructor(stage, place, hooks) {
    this.stage = stage;
    this.hooks = hooks;
    this.current = null;
    this.upcoming = [];
    this.nodes = new Map(); // token -> what shows the pair
    this.scale = 1; // of the zoom
    this.loading = false;
    this.place = `lookalike last ${place}`;
    this.past = JSON.parse(sessionStorage.getItem(this.place) ?? "[]");
  }

  get last() { return this.past.at(-1) ?? null; }
  get visible() { return Boolean(this.current) && this.nodes.get(this.current.token)?.state === "ready"; }
  get ahead() { return [this.current, ...this.upcoming].filter(Boolean); }

  // Take over the pairs that the server reserves for us, without those already answered. The shown pair stays if it is among them.
  merge(given, outbox) {
    const answered = outbox.answered();
    const ours = given.filter((pair) => !answered.has(pair.token));
    const token = this.current?.token;
    const same = ours.find((pair) => pair.token === token);
    const stays = token && (same || outbox.undoing(token));
    if (same) this.current = same; // its reservation may have been renewed
    this.upcoming = ours.filter((pair) => pair.token !== token);
    if (!stays) this.show(this.upcoming.shift() ?? null);
    this.tidy();
    this.load();
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
  }

  show(pair) {
    this.current = pair;
    this.stage.replaceChildren(...(pair ? [this.node(pair).element] : []));
    this.hooks.shown(pair);
    this.load();
  }

  node(pair) {
    let node = this.nodes.get(pair.token);
    if (!node) {
      node = new Pair(pair, this.hooks);
      this.nodes.set(pair.token, node);
    }
    return node;
  }

  // Load the photos of one pair after another, the next pair first. What fails is tried again and again.
  async load() {
    this.near();
    if (this.loading) return;
    this.loading = true;
    const failed = new Set();
    for (;;) {
      const left = this.ahead.map((pair) => this.node(pair)).filter((node) => !node.loaded);
      if (!left.length) break;
      const node = left.find((one) => !failed.has(one));
      if (!node) { failed.clear(); continue; }
      if (await node.load(this.pixels)) this.near();
      else { failed.add(node); await new Promise((go) => setTimeout(go, RETRY)); }
    }
    this.loading = false;
  }

  near() {
    this.ahead.slice(0, NEAR).forEach((pair, place) => {
      const node = this.node(pair);
      node.decode();
      if (place < 2) node.sharpen(this.pixels * this.scale);
    });
  }

  sharpen(scale) {
    this.scale = scale;
    this.near();
  }

  // The pixels of the longer side of a photo's place.
  get pixels() {
    const box = this.stage.querySelector(".photo")?.getBoundingClientRect();
    const { width, height } = box ?? { width: this.stage.clientWidth / 2, height: this.stage.clientHeight };
    return Math.max(width, height) * devicePixelRatio;
  }

  tidy() {
    const near = new Set([...this.ahead, ...this.past.slice(-2)].map((pair) => pair.token));
    for (const token of this.nodes.keys()) if (!near.has(token)) this.nodes.delete(token);
  }

  keep() {
    sessionStorage.setItem(this.place, JSON.stringify(this.past));
    this.hooks.kept();
  }
}
