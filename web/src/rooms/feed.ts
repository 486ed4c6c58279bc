import { batch, signal } from "@preact/signals";
import { get } from "../api";
import { Paced } from "../paced";
import type { Message } from "../wire";

// A Feed is what the page knows of the messages of a room: a stretch of them in memory, and
// of that the part that is drawn. Both are bounded, however long the room is: whoever scrolls
// moves the part, and the stretch is read on before its end is reached.

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

  private loaded: Message[] = [];
  private from = 0;
  private to = 0;
  private first = false; // nothing is before loaded
  private latest = false; // nothing is after loaded
  private reading: Promise<void> | null = null;
  private queue: Message[] | null = null; // came while the first ones were read
  private readonly come = new Paced<{ message: Message; follow: boolean }>((rows) => {
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

  private read(query: string): Promise<Message[]> {
    return get<Message[]>(`${this.path}&limit=${pageSize}&${query}`, this.stop.signal);
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
      const before = await this.read(around ? `tail=true&before_id=${around}` : "tail=true");
      const after = around ? await this.read(`since_id=${around - 1}`) : [];
      this.loaded = [...before, ...after];
      this.first = before.length < pageSize;
      this.latest = after.length < pageSize;
      const at = around ? before.length : this.loaded.length;
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
    this.come.add({ message, follow });
  }

  private take(message: Message, follow: boolean): void {
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

  // up draws earlier messages, and down later ones. They say whether anything changed.
  up(): boolean {
    if (this.from < readAt && !this.first) void this.readOlder();
    if (this.from === 0) return false;
    this.from = Math.max(0, this.from - stride);
    this.to = Math.min(this.to, this.from + drawnMost);
    this.show();
    return true;
  }

  down(): boolean {
    if (this.loaded.length - this.to < readAt && !this.latest) void this.readNewer();
    if (this.to === this.loaded.length) return false;
    this.to = Math.min(this.loaded.length, this.to + stride);
    this.from = Math.max(this.from, this.to - drawnMost);
    this.show();
    return true;
  }

  private once(read: () => Promise<void>): Promise<void> {
    this.reading ??= read()
      .catch((error: unknown) => {
        if (!this.stop.signal.aborted) this.failed.value = error;
      })
      .finally(() => (this.reading = null));
    return this.reading;
  }

  private readOlder(): Promise<void> {
    return this.once(async () => {
      const oldest = this.loaded[0]?.id ?? 1;
      const rows = await this.read(`tail=true&before_id=${oldest}`);
      if (this.loaded[0]?.id !== oldest) return; // it has begun anew
      this.loaded = [...rows, ...this.loaded];
      this.from += rows.length;
      this.to += rows.length;
      this.first = rows.length < pageSize;
      this.trimEnd();
      if (this.from < stride) this.up();
      else this.show();
    });
  }

  private readNewer(): Promise<void> {
    return this.once(async () => {
      const newest = this.loaded.at(-1)?.id ?? 0;
      const rows = await this.read(`since_id=${newest}`);
      if (this.loaded.at(-1)?.id !== newest) return;
      this.loaded = [...this.loaded, ...rows];
      this.latest = rows.length < pageSize;
      if (this.loaded.length > loadedMost) this.trimStart();
      if (this.loaded.length - this.to < stride) this.down();
      else this.show();
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
