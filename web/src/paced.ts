const hiddenFrame = 100; // ms, in a tab that nobody sees

// Paced hands on what comes: the first at once, and what comes before the next frame together,
// with that frame. So much that comes at a time costs no more than the screen can show.
export class Paced<T> {
  private come: T[] = [];
  private waits = false; // for a frame

  constructor(private readonly take: (rows: readonly T[]) => void) {}

  add(row: T): void {
    this.come.push(row);
    if (!this.waits) this.hand();
  }

  private readonly hand = (): void => {
    const come = this.come;
    this.come = [];
    this.waits = come.length > 0;
    if (!this.waits) return;
    if (document.hidden) setTimeout(this.hand, hiddenFrame);
    else requestAnimationFrame(this.hand);
    this.take(come);
  };
}
