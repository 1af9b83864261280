// When both photos of a pair were seen. An answer from before that, or from a moment after, is for the pair before.
const LOOK = 150; // milliseconds from the first frame with both photos until an answer counts

export class Look {
  constructor() {
    this.at = Infinity; // time of the first frame with both photos of the pair that is shown
    this.turn = 0;
  }

  // The second of two frames begins when the first one is on the screen.
  async start(pair) {
    const mine = ++this.turn;
    this.at = Infinity;
    performance.clearMarks("pair");
    if (!pair) return;
    await pair.settled;
    requestAnimationFrame(() => requestAnimationFrame((at) => {
      if (mine !== this.turn) return;
      this.at = at;
      performance.mark("pair", { startTime: at });
    }));
  }

  // A sum, as a caller would write it: at - this.at would be 149.99 for this.at + LOOK now and then.
  isEarly(at) { return at < this.at + LOOK; }
}
