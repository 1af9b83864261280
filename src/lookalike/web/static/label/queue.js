// Answers to send: kept in the browser until the server acknowledges them, sent one at a time and in order.
// Each answer has its own key in localStorage, so two tabs can write at once. An answer sent twice counts once.
const FIRST_WAIT = 1_000, LONGEST_WAIT = 30_000, PATIENCE = 15_000;
const tab = Math.random().toString(36).slice(2, 8);

export class Outbox {
  constructor(place, hooks) {
    this.prefix = `lookalike ${place} `;
    this.hooks = hooks;
    this.trouble = null; // why answers cannot be sent at the moment: network, server, login, page
    this.path = () => "/api/label/next";
    this.acknowledged = new Set(); // tokens answered here or in another tab; a late answer of the server may still list their pairs
    this.wanted = false;
    this.running = false;
    this.pause = FIRST_WAIT;
    this.last = 0;
  }

  entries() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.prefix)).sort();
    return keys.map((key) => ({ key, ...JSON.parse(localStorage.getItem(key) ?? "{}") }));
  }

  // Tokens that were answered and not undone.
  answered() {
    const tokens = new Set(this.acknowledged);
    for (const entry of this.entries()) {
      if (entry.kind === "answer") tokens.add(entry.token);
      else tokens.delete(entry.token);
    }
    return tokens;
  }

  undoing(token) {
    return this.entries().some((entry) => entry.kind === "undo" && entry.token === token);
  }

  push(entry) {
    this.last = Math.max(this.last + 1, Date.now());
    const key = `${this.prefix}${String(this.last).padStart(16, "0")} ${tab}`;
    localStorage.setItem(key, JSON.stringify(entry));
    this.hooks.changed();
    this.now();
  }

  // Learn what another tab answered. It may be sent, and gone from localStorage, before this tab looks there.
  heard({ key, newValue, oldValue }) {
    if (!key?.startsWith(this.prefix)) return;
    if (!newValue) {
      if (oldValue && JSON.parse(oldValue).kind === "undo") this.refresh(); // its pair comes back under a new token
      return;
    }
    const entry = JSON.parse(newValue);
    if (entry.kind === "answer") this.acknowledged.add(entry.token);
    else this.acknowledged.delete(entry.token);
  }

  // An undone pair comes back under a new token: move answers given meanwhile to that token.
  renew(old, token) {
    this.acknowledged.delete(old);
    for (const { key, ...entry } of this.entries()) {
      if (entry.token === old) localStorage.setItem(key, JSON.stringify({ ...entry, token }));
    }
  }

  refresh() { this.wanted = true; this.now(); }

  now() {
    clearTimeout(this.timer);
    if (!this.running) this.run();
  }

  async run() {
    this.running = true;
    const work = async () => { while (await this.step()); };
    try {
      if (navigator.locks) await navigator.locks.request(this.prefix, work); // one tab sends at a time
      else await work();
    } catch {
      this.later("network", 0);
    } finally {
      this.running = false;
    }
  }

  // Sends the first entry. Returns true if there may be more to send.
  async step() {
    const entry = this.entries()[0];
    if (!entry && !this.wanted) return false;
    this.wanted = this.wanted && Boolean(entry);
    let answer;
    try {
      answer = await withPatience(entry ? this.hooks.send(...request(entry)) : this.hooks.send(this.path()));
    } catch {
      if (!entry) this.wanted = true;
      return this.later("network", 0);
    }
    const { status, content, after } = answer;
    if (status === 401) return this.stop("login");
    if (status === 403 && content?.error?.code === "csrf") return this.stop("page");
    if (!isOurs(status, content)) return this.later("server", after);
    this.recover();
    if (entry) this.finish(entry, status, content);
    else if (status === 200) this.hooks.refreshed(content);
    else this.hooks.refused(null, content?.error);
    this.hooks.changed();
    return true;
  }

  finish(entry, status, content) {
    localStorage.removeItem(entry.key);
    if (status === 200 && entry.kind === "answer") this.acknowledged.add(entry.token);
    if (status === 200) this.hooks.accepted(entry, content);
    else this.hooks.refused(entry, content?.error);
  }

  recover() { this.trouble = null; this.pause = FIRST_WAIT; }

  stop(trouble) {
    this.trouble = trouble;
    this.hooks.changed();
    return false;
  }

  later(trouble, seconds) {
    const pause = Math.max(this.pause, 1000 * seconds);
    this.pause = Math.min(2 * this.pause, LONGEST_WAIT);
    this.timer = setTimeout(() => this.now(), pause);
    return this.stop(trouble);
  }
}

// Whether the app itself accepted or finally refused the answer. After anything else (a proxy's page, a network login,
// a busy server, an unknown host name) the answer is kept and sent again.
function isOurs(status, content) {
  if (status === 200) return Array.isArray(content?.given);
  const { code, kind } = content?.error ?? {};
  return Boolean(code || kind) && code !== "host" && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function request({ kind, token, answer, took, reason }) {
  return kind === "undo" ? ["/api/label/undo", { token }] : ["/api/label/answer", { token, answer, took, reason }];
}

function withPatience(promise) {
  const limit = new Promise((_, fail) => setTimeout(() => fail(new Error("no answer")), PATIENCE));
  return Promise.race([promise, limit]);
}
