// The map: colours, moving and zooming, selecting, and the list of what is selected.
import { nearest, planeOf, within } from "./plane.js";

const SCALE = 65535, PAGE = 48, WAIT = 1500, HINT = "Choose a colour to select its photos.";
const map = document.getElementById("map");
if (map) begin();

async function begin() {
  const by = (id) => document.getElementById(id);
  const { encoder, version } = map.dataset;
  const canvas = by("plane"), frame = canvas.parentElement, found = by("found"), tip = by("tip");
  const [outline, ring] = by("over").children;
  const asked = (name, more) => fetch(`/map/${name}?${new URLSearchParams({ encoder, v: version })}&${more}`);
  const ofGroups = colours(by("by").value); // points are grey until they have come
  const places = new Uint16Array(await asked("points", "").then((answer) => answer.arrayBuffer()));
  const view = { x: 0.5, y: 0.5, zoom: 1 };
  const plane = planeOf(canvas, places);
  let colouring = { groups: ["other"], sizes: [], codes: new Uint8Array(places.length / 2), marked: -1 }, selected = new Uint32Array(), shown = 0, tool = "move", waiting = false;

  if (plane) {
    new ResizeObserver(redraw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  } else {
    frame.classList.add("none");
    by("about").textContent = "This browser cannot draw the map, because it has no WebGL 2. Choose a group to list its photos.";
  }
  by("show").hidden = true;
  paint();
  ofGroups.then(use);

  // Colours
  async function colours(name) {
    for (;;) {
      const answer = await asked("colours", new URLSearchParams({ by: name }));
      if (answer.status === 202) {
        const { failure } = await answer.json();
        if (failure) throw said(failure.join(" "));
        by("legend-hint").textContent = "Computing how often each item is shown.";
        await new Promise((done) => setTimeout(done, WAIT));
        continue;
      }
      if (!answer.ok) throw said("The map has changed. Reload the page.");
      const raw = await answer.arrayBuffer(), length = new DataView(raw).getUint32(0, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, length)));
      return { ...head, codes: new Uint8Array(raw, 4 + length) };
    }
  }

  function use(found) {
    colouring = found;
    by("legend-hint").textContent = plane ? HINT : "";
    paint();
  }

  function said(words) {
    by("count").textContent = words;
    return new Error(words);
  }

  function tones() {
    let step = 0;
    const names = colouring.groups.map((name, at) => {
      if (colouring.marked < 0) return name === "other" ? "--other" : `--g${at}`;
      return at === colouring.marked ? "--marked" : `--step-${step++}`;
    });
    const style = getComputedStyle(document.documentElement);
    return names.map((name) => style.getPropertyValue(name).trim());
  }

  function paint() {
    const used = tones();
    by("legend-title").textContent = by("by").selectedOptions[0].textContent;
    by("legend").querySelector("ul").replaceChildren(...colouring.sizes.map((_, at) => legendItem(colouring.groups[at], at, used[at])));
    if (!plane) return;
    const numbers = used.flatMap((tone) => [1, 3, 5].map((from) => parseInt(tone.slice(from, from + 2), 16) / 255));
    plane.colour(colouring.codes, new Float32Array([...numbers, ...Array(36 - numbers.length).fill(0)]), colouring.marked);
    redraw();
  }

  function legendItem(name, at, tone) {
    const item = document.createElement("li"), button = document.createElement("button");
    const parts = ["", name, colouring.sizes[at].toLocaleString("en")].map((words) => {
      const part = document.createElement("span");
      part.textContent = words;
      return part;
    });
    parts[0].className = "dot";
    parts[0].style.setProperty("--dot", tone);
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.append(...parts);
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") === "true";
      choose(pressed ? [] : rowsOf(at));
      button.setAttribute("aria-pressed", String(!pressed));
    });
    item.append(button);
    return item;
  }

  function rowsOf(group) {
    const rows = [];
    colouring.codes.forEach((code, row) => code === group && rows.push(row));
    return rows;
  }

  // Drawing, at most once for each frame of the screen
  function redraw() {
    if (waiting || !plane) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const ratio = devicePixelRatio, wide = canvas.clientWidth, high = canvas.clientHeight;
      if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio))
        [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(high * ratio)];
      Object.assign(view, { wide, high, ratio, side: 0.94 * Math.min(wide, high) * view.zoom });
      plane.draw(view);
      if (!colouring.sizes.length) return;
      if (!map.dataset.ready) performance.mark("map");
      map.dataset.ready = "1";
    });
  }

  // Between the screen (pixels of the canvas, down) and the plane (as points are sent, up)
  const toPlane = (px, py) => [
    SCALE * (view.x + (px - view.wide / 2) / view.side), SCALE * (view.y - (py - view.high / 2) / view.side),
  ];
  const toScreen = (row) => [
    view.wide / 2 + (places[2 * row] / SCALE - view.x) * view.side,
    view.high / 2 - (places[2 * row + 1] / SCALE - view.y) * view.side,
  ];

  function zoom(factor, px = view.wide / 2, py = view.high / 2) {
    const [x, y] = toPlane(px, py), now = Math.min(400, Math.max(0.5, view.zoom * factor));
    view.side *= now / view.zoom;
    view.zoom = now;
    view.x = x / SCALE - (px - view.wide / 2) / view.side;
    view.y = y / SCALE + (py - view.high / 2) / view.side;
    moved();
  }

  function move(dx, dy) {
    view.x -= dx / view.side;
    view.y += dy / view.side;
    moved();
  }

  function moved() {
    hover(-1);
    redraw();
  }

  function showAll() {
    Object.assign(view, { x: 0.5, y: 0.5, zoom: 1 });
    moved();
  }

  const inView = () => choose(within(places, [[0, 0], [view.wide, 0], [view.wide, view.high], [0, view.high]].flatMap((at) => toPlane(...at))));

  // Selecting
  function choose(rows) {
    selected = Uint32Array.from(rows);
    for (const button of by("legend").querySelectorAll("button")) button.setAttribute("aria-pressed", "false");
    const count = selected.length;
    by("count").textContent = count ? `${count.toLocaleString("en")} photo${count === 1 ? "" : "s"}` : "None. Draw around points, choose a colour, or list the photos in view.";
    by("clear").hidden = !count;
    found.replaceChildren();
    shown = 0;
    plane?.select(selected);
    redraw();
    list();
  }

  async function list() {
    const of = selected, rows = [...of.subarray(shown, shown + PAGE)];
    by("more").hidden = true;
    if (!rows.length) return;
    const answer = await asked("images", rows.map((row) => `row=${row}`).join("&"));
    if (of !== selected) return;
    if (!answer.ok) throw said("The map has changed. Reload the page.");
    const part = document.createElement("template");
    part.innerHTML = await answer.text();
    found.append(part.content);
    shown += rows.length;
    by("more").hidden = shown >= of.length;
  }

  // The point under the pointer, with its photo; or that of a listed photo
  let hovered = -1;
  async function hover(row, withPhoto = true) {
    if (row === hovered) return;
    hovered = row;
    tip.hidden = true;
    ring.style.visibility = row < 0 ? "hidden" : "visible";
    if (row < 0) return;
    const [x, y] = toScreen(row);
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    if (!withPhoto) return;
    await new Promise((done) => setTimeout(done, 60));
    if (row !== hovered) return;
    const text = await asked("images", `row=${row}`).then((answer) => answer.text());
    if (row !== hovered) return;
    const part = document.createElement("template");
    part.innerHTML = text;
    tip.replaceChildren(...part.content.querySelector("li").childNodes);
    tip.style.left = `${x + 170 > view.wide ? x - 166 : x + 14}px`;
    tip.style.top = `${Math.max(4, Math.min(y - 60, view.high - 210))}px`;
    tip.hidden = false;
  }

  // Pointers: one moves, draws or chooses a point; two zoom
  const down = new Map();
  let path = [], far = 0;
  const at = (event) => [event.offsetX, event.offsetY];
  const drawing = (event) => tool !== "move" || event.shiftKey;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    path = down.size === 1 && drawing(event) ? [at(event)] : [];
    far = down.size === 1 ? 0 : 99;
    hover(-1);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event), before = down.get(event.pointerId);
    if (!before) return hover(nearest(places, ...toPlane(x, y), (SCALE * 9) / view.side));
    const [dx, dy] = [x - before[0], y - before[1]];
    far += Math.hypot(dx, dy);
    if (down.size === 2) {
      const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const apart = Math.hypot(x - other[0], y - other[1]), was = Math.hypot(before[0] - other[0], before[1] - other[1]);
      if (was > 0) zoom(apart / was, (x + other[0]) / 2, (y + other[1]) / 2);
    } else if (path.length) {
      const corner = path[0];
      path = tool === "lasso" ? [...path, [x, y]] : [corner, [x, corner[1]], [x, y], [corner[0], y]];
      outline.setAttribute("points", path.join(" "));
    } else move(dx, dy);
    down.set(event.pointerId, [x, y]);
  });
  for (const kind of ["pointerup", "pointercancel"])
    canvas.addEventListener(kind, (event) => {
      if (!down.delete(event.pointerId)) return;
      outline.setAttribute("points", "");
      if (kind === "pointercancel") return;
      if (far < 5) {
        const row = nearest(places, ...toPlane(...at(event)), (SCALE * 12) / view.side);
        if (row >= 0) choose([row]);
      } else if (path.length > 2) choose(within(places, path.flatMap((place) => toPlane(...place))));
      path = [];
    });
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
  }, { passive: false });

  const KEYS = {
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: showAll, v: inView, Escape: () => choose([]),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  const ZOOMS = { in: () => zoom(1.6), out: () => zoom(1 / 1.6), all: showAll, list: inView };
  for (const button of frame.querySelectorAll("[data-zoom]")) button.addEventListener("click", ZOOMS[button.dataset.zoom]);
  const tools = [...frame.querySelectorAll("[data-tool]")];
  for (const button of tools)
    button.addEventListener("click", () => {
      frame.dataset.tool = tool = button.dataset.tool;
      for (const one of tools) one.setAttribute("aria-pressed", String(one === button));
    });
  by("clear").addEventListener("click", () => choose([]));
  by("more").addEventListener("click", list);
  by("encoder").addEventListener("change", () => by("choose").submit());
  by("by").addEventListener("change", async (event) => {
    const name = event.target.value;
    const next = await colours(name);
    if (event.target.value !== name) return;
    choose([]);
    use(next);
    history.replaceState(null, "", `/map?${new URLSearchParams({ encoder, by: name })}`);
  });
  const pointed = (event) => {
    const item = event.target.closest("[data-row]");
    if (item && plane) hover(Number(item.dataset.row), false);
  };
  found.addEventListener("pointerover", pointed);
  found.addEventListener("focusin", pointed);
  found.addEventListener("pointerleave", () => hover(-1));
}
