// One pair on the page: its two photos are loaded, decoded shortly before they are needed, and loaded larger for a zoom.
export class Pair {
  constructor(pair, hooks) {
    this.element = document.createElement("div");
    this.element.className = "pair";
    this.state = "loading";
    this.photos = [new Photo("Left photo", pair.left, hooks), new Photo("Right photo", pair.right, hooks)];
    this.element.append(...this.photos.map((photo) => photo.element));
    this.settled = Promise.all(this.photos.map((photo) => photo.settled)).then((all) => {
      this.state = all.every(Boolean) ? "ready" : "missing";
    });
  }

  get loaded() { return this.photos.every((photo) => photo.done); }

  // Load what is not loaded yet, for a number of pixels. Returns false if the network or the server failed.
  async load(pixels) {
    const all = await Promise.all(this.photos.map((photo) => photo.done || photo.load(pixels)));
    return all.every(Boolean);
  }

  decode() { for (const photo of this.photos) photo.decode(); }

  sharpen(pixels) { for (const photo of this.photos) photo.sharpen(pixels); }
}

class Photo {
  constructor(words, photo, hooks) {
    this.element = document.createElement("figure");
    this.element.className = "photo";
    this.words = words;
    this.photo = photo;
    this.hooks = hooks;
    this.done = false;
    this.settled = new Promise((settle) => { this.settle = settle; });
    this.show(`${words}: loading…`);
  }

  async load(pixels) {
    try {
      const image = await this.picture(pixels);
      const answer = await fetch(image.currentSrc, { credentials: "same-origin", cache: "force-cache" }); // a missing photo has a picture too
      if (answer.status !== 404 && !answer.ok) throw new Error(String(answer.status));
      this.done = true;
      if (answer.status === 404) this.missing();
      else this.image = image;
      return true;
    } catch {
      this.show(`${this.words}: waiting for the network…`);
      return false;
    }
  }

  // A picture that is loaded, of the smallest resolution that has these pixels.
  picture(pixels) {
    const { sizes } = this.hooks, wanted = sizes.find((size) => size >= pixels) ?? sizes.at(-1);
    const image = new Image();
    image.alt = this.words;
    image.draggable = false;
    image.sizes = `${wanted / devicePixelRatio}px`;
    image.srcset = sizes.map((size) => `${this.photo.url.replace(/\d+/, size)} ${size}w`).join(", ");
    this.pixels = wanted;
    return new Promise((loaded, failed) => {
      image.addEventListener("load", () => loaded(image), { once: true });
      image.addEventListener("error", () => failed(new Error("not loaded")), { once: true });
    });
  }

  async decode() {
    if (!this.image || this.image.isConnected || this.element.contains(this.image)) return;
    await this.image.decode().catch(() => null);
    this.element.replaceChildren(this.image);
    this.settle(true);
  }

  // Replace the picture with a larger one once that is loaded.
  async sharpen(pixels) {
    const had = this.pixels;
    if (!this.image || pixels <= had || had === this.hooks.sizes.at(-1)) return;
    try {
      const large = await this.picture(pixels);
      await large.decode();
      if (this.element.contains(this.image)) this.image.replaceWith(large);
      this.image = large;
    } catch {
      this.pixels = had; // try again at the next zoom
    }
  }

  missing() {
    const box = this.show(`${this.words}: the file is missing or damaged.`);
    box.append(document.createElement("br"), button("Skip this pair", (event) => this.hooks.skip(event.timeStamp)), button("Report to leads", async (event) => {
      const answer = await this.hooks.missing(this.photo.image).catch(() => null);
      event.target.textContent = answer?.status === 200 ? "Reported in the audit log" : "Not sent. Try again";
      event.target.disabled = answer?.status === 200;
    }));
    this.settle(false);
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
