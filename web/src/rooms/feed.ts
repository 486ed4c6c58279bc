import { batch, signal } from "@preact/signals";
import { type Back, type On, readBack, readOn } from "../log";
import { Paced } from "../paced";
import type { Message } from "../wire";

// A Feed is what the page knows of the messages of a room: a stretch of them in memory, and
// of that the part that is drawn. Both are bounded, however long the room is: whoever scrolls
// moves the part, and the stretch is read on before its end is reached. An end is known when the hub
// has proved it; a page that is short is none.

const loadedMost = 1000; // messages in memory
const drawnMost = 120; // messages that are drawn
const stride = 24; // messages by which the part moves
const readAt = 150; // messages left in memory when more are read
const pageSize = 200;

export class Feed {
  readonly drawn = signal<readonly Message[]>([]);
  readonly atStart = signal(false); // the first drawn is the first of all
  readonly atEnd = signal(false); // the last drawn is the latest of all
  readonly missed = signal(0); // new ones since the person no longer follows; the page sets it back
  readonly ready = signal(false);
  readonly failed = signal<unknown>(null);
  readonly busy = signal(false); // it is being read on

  private loaded: Message[] = [];
  private from = 0;
  private to = 0;
  private first = false; // nothing is before loaded
  private latest = false; // nothing is after loaded
  private come = 0; // the highest id that has come live
  private reading: Promise<void> | null = null;
  private queue: Message[] | null = null; // came while the first ones were read
  private readonly paced = new Paced<{ message: Message; follow: boolean }>((rows) => {
    if (this.queue) return void this.queue.push(...rows.map((one) => one.message));
    batch(() => {
      for (const { message, follow } of rows) this.take(message, follow);
      this.show();
    });
  });
  private readonly stop = new AbortController();

  constructor(
    private readonly path: string, // with its first parameters
    private readonly around: number, // 0: the latest
    private readonly before: () => void, // is called before the drawn part changes
  ) {}

  end(): void {
    this.stop.abort();
  }

  // back reads rows before an id, or the latest ones with 0. Without a row there is none.
  private async back(before: number): Promise<Back> {
    for (;;) {
      const page = await readBack(this.path, pageSize, before, this.stop.signal);
      if (page.rows.length > 0 || page.before <= 1) return page;
      before = page.before;
    }
  }

  // on reads rows behind an id. Without a row there was none.
  private async on(since: number): Promise<On> {
    for (;;) {
      const page = await readOn(this.path, pageSize, since, this.stop.signal);
      if (page.rows.length > 0 || page.end) return page;
      since = page.since;
    }
  }

  private show(): void {
    const last = this.loaded.length;
    this.from = Math.max(0, Math.min(this.from, last));
    this.to = Math.max(this.from, Math.min(this.to, last, this.from + drawnMost));
    const drawn = this.drawn.value;
    const changed =
      drawn.length !== this.to - this.from || drawn[0]?.id !== this.loaded[this.from]?.id || drawn.at(-1)?.id !== this.loaded[this.to - 1]?.id;
    if (changed) this.before();
    batch(() => {
      if (changed) this.drawn.value = this.loaded.slice(this.from, this.to);
      this.atStart.value = this.first && this.from === 0;
      this.atEnd.value = this.latest && this.to === last;
      this.ready.value = true;
    });
  }

  // begin reads the latest messages, or those around the one that an address names.
  async begin(around = this.around): Promise<void> {
    this.queue = [];
    try {
      const before = await this.back(around);
      const after = around ? await this.on(around - 1) : null;
      this.loaded = [...before.rows, ...(after?.rows ?? [])];
      this.first = before.before <= 1;
      this.latest = after === null || after.end;
      const at = around ? before.rows.length : this.loaded.length;
      this.to = Math.min(this.loaded.length, around ? at + drawnMost / 2 : at);
      this.from = Math.max(0, this.to - drawnMost);
      this.failed.value = null;
    } catch (error) {
      if (!this.stop.signal.aborted) this.failed.value = error;
    }
    const late = this.queue;
    this.queue = null;
    this.show();
    for (const message of late) this.take(message, !around);
    this.show();
  }

  // add takes a new message. With follow it is drawn, if the latest one is; without, the
  // drawn part stays where the person reads.
  add(message: Message, follow: boolean): void {
    this.paced.add({ message, follow });
  }

  private take(message: Message, follow: boolean): void {
    this.come = Math.max(this.come, message.id);
    const newest = this.loaded.at(-1)?.id ?? 0;
    if (message.id <= newest) return;
    const ended = this.latest && this.to === this.loaded.length;
    if (this.latest) this.loaded.push(message);
    if (this.latest && ended && follow) {
      this.to = this.loaded.length;
      this.from = Math.max(0, this.to - drawnMost);
      if (this.loaded.length > 2 * loadedMost) this.trimStart();
      return;
    }
    if (this.loaded.length > loadedMost) {
      this.loaded.pop();
      this.latest = false;
    }
    this.missed.value++;
    if (ended && this.to - this.from < drawnMost) this.to++;
  }

  private trimStart(): void {
    const n = Math.min(this.from, this.loaded.length - loadedMost);
    if (n <= 0) return;
    this.loaded = this.loaded.slice(n);
    this.from -= n;
    this.to -= n;
    this.first = false;
  }

  private trimEnd(): void {
    const keep = Math.max(this.to, loadedMost);
    if (this.loaded.length <= keep) return;
    this.loaded.length = keep;
    this.latest = false;
  }

  // step is by how many messages the part moves, or grows as long as it may.
  private step(): number {
    const free = drawnMost - (this.to - this.from);
    return free > 0 ? Math.min(free, stride) : stride;
  }

  // up draws earlier messages, and down later ones. They say whether anything changed.
  up(): boolean {
    if (this.from < readAt && !this.first) void this.readOlder();
    if (this.from === 0) return false;
    this.from = Math.max(0, this.from - this.step());
    this.to = Math.min(this.to, this.from + drawnMost);
    this.show();
    return true;
  }

  down(): boolean {
    if (this.loaded.length - this.to < readAt && !this.latest) void this.readNewer();
    if (this.to === this.loaded.length) return false;
    this.to = Math.min(this.loaded.length, this.to + this.step());
    this.from = Math.max(this.from, this.to - drawnMost);
    this.show();
    return true;
  }

  // fill reads and draws more where so little is drawn that nobody can scroll.
  fill(above: boolean, below: boolean): void {
    if (this.busy.value || this.to - this.from >= drawnMost) return;
    if (above && !this.atStart.value) this.up();
    else if (below && !this.atEnd.value) this.down();
  }

  private once(read: () => Promise<void>): Promise<void> {
    if (this.reading) return this.reading;
    this.busy.value = true;
    this.reading = read()
      .then(() => void (this.failed.value = null))
      .catch((error: unknown) => {
        if (!this.stop.signal.aborted) this.failed.value = error;
      })
      .finally(() => {
        this.reading = null;
        this.busy.value = false;
      });
    return this.reading;
  }

  private readOlder(): Promise<void> {
    return this.once(async () => {
      const oldest = this.loaded[0]?.id ?? 1;
      const { rows, before } = await this.back(oldest);
      if (this.loaded[0]?.id !== oldest) return; // it has begun anew
      this.loaded = [...rows, ...this.loaded];
      this.from += rows.length;
      this.to += rows.length;
      this.first = before <= 1;
      this.trimEnd();
      const few = this.from < stride || this.to - this.from < drawnMost;
      if (!few || !this.up()) this.show();
    });
  }

  private readNewer(): Promise<void> {
    return this.once(async () => {
      const newest = this.loaded.at(-1)?.id ?? 0;
      const { rows, since, end } = await this.on(newest);
      if (this.loaded.at(-1)?.id !== newest) return;
      this.loaded = [...this.loaded, ...rows];
      this.latest = end && since >= this.come; // what has come meanwhile is not loaded
      if (this.loaded.length > loadedMost) this.trimStart();
      const few = this.loaded.length - this.to < stride || this.to - this.from < drawnMost;
      if (!few || !this.down()) this.show();
    });
  }

  // toEnd draws the latest messages.
  async toEnd(): Promise<void> {
    if (!this.latest) return this.begin(0);
    this.to = this.loaded.length;
    this.from = Math.max(0, this.to - drawnMost);
    this.show();
  }
}
