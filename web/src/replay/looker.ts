import { signal } from "@preact/signals";
import type { Moment, When } from "./types";

// Source answers what a room was like.
export type Source = (when: When, stop: AbortSignal) => Promise<Moment>;

// A Looker reads one moment at a time. While one is on its way it keeps the latest wish alone,
// so that a slider that moves asks for no more than the hub can answer, and what is shown last
// is what was wished last.
export class Looker {
  readonly moment = signal<Moment | null>(null);
  readonly failed = signal<unknown>(null);
  readonly busy = signal(false);

  private wish: When | null = null;
  private readonly stop = new AbortController();

  constructor(private readonly source: Source) {}

  look(when: When): void {
    this.wish = when;
    if (!this.busy.value) void this.run();
  }

  end(): void {
    this.wish = null;
    this.stop.abort();
  }

  private async run(): Promise<void> {
    this.busy.value = true;
    while (this.wish !== null) {
      const when = this.wish;
      this.wish = null;
      try {
        this.moment.value = await this.source(when, this.stop.signal);
        this.failed.value = null;
      } catch (error) {
        if (!this.stop.signal.aborted) this.failed.value = error;
      }
    }
    this.busy.value = false;
  }
}
