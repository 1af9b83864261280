// Enlarges both photos together and shows the same part of each, moved by mouse, finger or keys.
const STEP = 12;

export class Zoom {
  constructor(stage, button) {
    this.stage = stage;
    this.button = button;
    button.hidden = false;
    button.addEventListener("click", () => this.toggle());
    stage.addEventListener("pointermove", (event) => this.point(event));
    stage.addEventListener("pointerdown", (event) => this.point(event));
    stage.addEventListener("dblclick", () => this.toggle());
    this.reset();
  }

  get on() { return this.stage.classList.contains("zoomed"); }

  toggle() {
    this.stage.classList.toggle("zoomed");
    this.button.setAttribute("aria-pressed", String(this.on));
    if (this.on) for (const image of this.stage.querySelectorAll("img[data-zoom]")) enlarge(image);
  }

  reset() {
    this.stage.classList.remove("zoomed");
    this.button.setAttribute("aria-pressed", "false");
    this.place(50, 50);
  }

  move(x, y) { if (this.on) this.place(this.x + STEP * x, this.y + STEP * y); }

  point(event) {
    const photo = event.target.closest(".photo");
    if (!this.on || !photo) return;
    const box = photo.getBoundingClientRect();
    this.place((100 * (event.clientX - box.left)) / box.width, (100 * (event.clientY - box.top)) / box.height);
  }

  place(x, y) {
    [this.x, this.y] = [x, y].map((value) => Math.min(Math.max(value, 0), 100));
    this.stage.style.setProperty("--x", `${this.x}%`);
    this.stage.style.setProperty("--y", `${this.y}%`);
  }
}

// Replaces the small photo with the large one once that is loaded.
async function enlarge(image) {
  const large = new Image();
  large.src = image.dataset.zoom;
  delete image.dataset.zoom;
  try {
    await large.decode();
    image.src = large.src;
  } catch {
    image.dataset.zoom = large.src; // try again at the next zoom
  }
}
