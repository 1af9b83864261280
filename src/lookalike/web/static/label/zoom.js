// Enlarges both photos together and shows the same part of each, by wheel, fingers, drag or keys. It stays on from pair to pair.
const START = 2.5, MOST = 8, STEP = 0.12, MIDDLE = { x: 0.5, y: 0.5 };

export class Zoom {
  constructor(stage, button, changed) {
    this.stage = stage;
    this.button = button;
    this.changed = changed;
    this.scale = 1;
    this.at = MIDDLE; // the point of a photo's place, in parts of its size, that an enlargement does not move
    this.pointers = new Map();
    button.hidden = false;
    button.addEventListener("click", () => this.toggle());
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.pointerMoved(event));
    for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    stage.addEventListener("dblclick", (event) => { if (!event.target.closest("button")) this.toggle(this.point(event)); });
  }

  get on() { return this.scale > 1; }

  toggle(point = MIDDLE) { this.enlarge(this.on ? 1 : START, point); }

  move(x, y) { this.drag(-STEP * x * (this.scale - 1), -STEP * y * (this.scale - 1)); }

  // Enlarge so that what is seen at a point stays there.
  enlarge(scale, point) {
    const next = scale < 1.05 ? 1 : Math.min(scale, MOST);
    const held = (axis) => {
      const seen = this.at[axis] + (point[axis] - this.at[axis]) / this.scale;
      return within((seen - point[axis] / next) / (1 - 1 / next));
    };
    this.at = next === 1 ? MIDDLE : { x: held("x"), y: held("y") };
    this.scale = next;
    this.apply();
  }

  // Move what is seen, by parts of a photo's place.
  drag(x, y) {
    if (!this.on) return;
    this.at = { x: within(this.at.x - x / (this.scale - 1)), y: within(this.at.y - y / (this.scale - 1)) };
    this.apply();
  }

  apply() {
    this.stage.classList.toggle("zoomed", this.on);
    this.button.setAttribute("aria-pressed", String(this.on));
    this.stage.style.setProperty("--scale", this.scale);
    this.stage.style.setProperty("--x", `${100 * this.at.x}%`);
    this.stage.style.setProperty("--y", `${100 * this.at.y}%`);
    this.changed(this.scale);
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.002; // with Ctrl: two fingers on a touch pad
    this.enlarge(this.scale * Math.exp(-speed * lines * event.deltaY), this.point(event));
  }

  down(event) {
    if (event.button || event.target.closest("button") || !event.target.closest(".photo")) return;
    this.pointers.set(event.pointerId, { clientX: event.clientX, clientY: event.clientY });
    this.stage.setPointerCapture(event.pointerId);
  }

  pointerMoved(event) {
    if (!this.pointers.has(event.pointerId)) return;
    const before = this.hand();
    this.pointers.set(event.pointerId, { clientX: event.clientX, clientY: event.clientY });
    const after = this.hand();
    if (before.width) this.enlarge((this.scale * after.width) / before.width, this.point(after));
    const box = this.box(after);
    this.drag((after.clientX - before.clientX) / box.width, (after.clientY - before.clientY) / box.height);
  }

  // The middle of the fingers, and how far apart they are: 0 for one finger or the mouse.
  hand() {
    const all = [...this.pointers.values()], [one, two = one] = all;
    return {
      clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2,
      width: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY),
    };
  }

  // The photo's place that holds a point of the window, or the first one.
  box({ clientX, clientY }) {
    const boxes = [...this.stage.querySelectorAll(".photo")].map((photo) => photo.getBoundingClientRect());
    const holds = (box) => clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
    return boxes.find(holds) ?? boxes[0] ?? this.stage.getBoundingClientRect();
  }

  point(event) {
    const box = this.box(event);
    return { x: within((event.clientX - box.left) / box.width), y: within((event.clientY - box.top) / box.height) };
  }
}

function within(part) { return Math.min(Math.max(part, 0), 1); }
