// The discussion screen: a labelling screen for pairs whose votes differ. The next pair is loaded while one is shown.
// Each pair is a page of the server. This script takes the parts of the next page over, so both say the same.
import { localTimes } from "../times.js";
import { call } from "./call.js";
import { listen } from "./keys.js";
import { Look } from "./look.js";
import { Pair } from "./photo.js";
import { announce, early, refused } from "./words.js";
import { Zoom } from "./zoom.js";

const SAYS = {
  ArrowRight: "similar", s: "similar", j: "similar", ArrowLeft: "dissimilar", d: "dissimilar", e: "exclude",
  r: "reopen", c: "comment", " ": "next", n: "next",
};
const PARTS = ["heading", "where", "said", "undo-form", "panel", "answers"];
const RETRY = 2_000;
const by = (id) => document.getElementById(id);
const root = by("labelling"), stage = by("stage");
const hooks = {
  sizes: JSON.parse(root.dataset.sizes), skip: () => go(root.dataset.next),
  missing: (image) => call("/api/label/missing", { image }),
};
const zoom = new Zoom(stage, by("zoom"), () => pair.sharpen(pixels()));
const look = new Look();
let pair = photos(root); // that is shown
let ahead = null; // the promise of the next page
let busy = false;
let again = Promise.resolve(); // this page, after it was taken over: it tells what was decided last
const done = [new URLSearchParams(location.search).get("said")].filter(Boolean); // pairs decided here, the last one last

function photos(of) { return new Pair(JSON.parse(of.dataset.photos), hooks); }

// The pixels of the longer side of a photo's place, enlarged as the zoom is.
function pixels() {
  const { width, height } = (stage.querySelector(".photo") ?? stage).getBoundingClientRect();
  return Math.max(width, height) * devicePixelRatio * zoom.scale;
}

async function load(one) {
  while (!(await one.load(pixels()))) await new Promise((retry) => setTimeout(retry, RETRY));
  one.decode();
}

function view() {
  stage.replaceChildren(pair.element);
  look.start(pair);
  load(pair);
  const { next, more } = root.dataset;
  ahead = Number(more) ? read(next).then((page) => { if (page) load(page.pair); return page; }) : null;
}

// A page of the server, without its photos being shown; null if it is none of a pair, or did not come.
async function read(address) {
  try {
    const answer = await fetch(address, { credentials: "same-origin", cache: "no-store" });
    const part = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("labelling");
    return part ? { address, part, title: part.ownerDocument.title, pair: photos(part) } : null;
  } catch {
    return null;
  }
}

// Take the parts of a page over. A comment that is being written stays.
function take({ part, title }, { keep = false } = {}) {
  const text = by("text"), had = text.value, wasIn = document.activeElement === text;
  for (const id of PARTS) by(id).replaceWith(part.ownerDocument.getElementById(id));
  Object.assign(root.dataset, part.dataset);
  document.title = title;
  localTimes(root);
  if (keep && had) by("text").value = had;
  if (keep && wasIn) by("text").focus();
}

// Show a pair; without its page, the browser goes there. The page says what was decided last.
async function go(address, { back = false } = {}) {
  if (busy) return;
  const there = new URL(address, location.href);
  if (done.length) there.searchParams.set("said", done.at(-1));
  busy = true;
  const page = (address === root.dataset.next && (await ahead)) || (await read(there));
  busy = false;
  if (!page) { location.assign(there); return; }
  if (!back) history.pushState(null, "", there);
  pair = page.pair;
  take(page);
  by("refusals").replaceChildren();
  view();
  stage.focus({ preventScroll: true });
  if (page.address !== there) await (again = refresh());
  announce([by("heading"), by("said")].map((one) => one.textContent).join(". "));
}

// Load the votes and comments of this pair again: others may have commented or decided.
async function refresh() {
  const { question } = root.dataset;
  const page = await read(location.href);
  if (page && page.part.dataset.question === question && root.dataset.question === question) take(page, { keep: true });
}

// Send something; returns whether it was accepted.
async function send(path, body) {
  if (busy) return false;
  busy = true;
  try {
    const { status, content } = await call(path, body);
    if (status !== 200) refused(null, content?.error);
    return status === 200;
  } catch {
    refused(null, { problem: "The server cannot be reached.", fix: "Nothing was saved. Try again." });
    return false;
  } finally {
    busy = false;
  }
}

async function decide(kind, verdict, at) {
  if (look.isEarly(at)) { early(); return; }
  const { question, next } = root.dataset;
  if (!(await send(`/api/discussions/${question}/${kind}`, { verdict }))) { await refresh(); return; }
  if (verdict === "reopen") { await refresh(); return; }
  done.push(question);
  await go(next);
}

async function undo() {
  await again;
  const { question } = by("undo-form").dataset, back = by("said").querySelector("a");
  if (question && !(await send(`/api/discussions/${question}/decisions`, { verdict: "reopen" }))) return;
  done.pop();
  if (back) await go(back.href);
}

async function comment(form) {
  const text = form.elements.text;
  if (!(await send(`/api/discussions/${root.dataset.question}/comments`, { text: text.value, token: form.elements.token.value }))) return;
  text.value = "";
  await refresh();
  stage.focus({ preventScroll: true });
  announce("Comment added.");
}

function say(choice, at) {
  const form = by("answers").querySelector("form");
  if (choice === "comment") by("text").focus();
  else if (choice === "next") go(root.dataset.next);
  else if (form?.querySelector(`[value=${choice}]`)) decide(form.dataset.kind, choice, at);
}

root.addEventListener("submit", (event) => {
  event.preventDefault();
  const { target, submitter, timeStamp } = event;
  if (target.id === "comment") comment(target);
  else if (target.id === "undo-form") undo();
  else decide(target.dataset.kind, submitter.value, timeStamp);
});
root.addEventListener("click", (event) => {
  if (!event.target.closest("#next") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(root.dataset.next);
});
root.addEventListener("keydown", (event) => {
  if (event.target.id !== "text") return;
  if (event.key === "Escape") stage.focus({ preventScroll: true });
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
});
listen({ says: SAYS, say, undo, zoom: () => zoom.toggle(), pan: (x, y) => zoom.move(x, y) });
addEventListener("popstate", () => go(location.href, { back: true }));
addEventListener("resize", () => pair.sharpen(pixels()));
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });

view();
stage.focus({ preventScroll: true });
