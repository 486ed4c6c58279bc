import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Refused, call, get, listed, temporary } from "./api";
import { connected, listen, open } from "./live";
import { Paced } from "./paced";
import type { Changed, ChangedKind, Message } from "./wire";

// What a page reads of the hub it declares: useRead reads a path when it is first shown, and
// anew when a notice names one of its kinds. Two that show the same share one reading. What
// no longer is shown stays known as long as no notice touches it, so that the back button
// shows at once what is still true.

export interface Reading<T> {
  value: T | null; // null: not read yet
  error: Refused | null; // of the last reading; value is then from before
  next: string; // where the next page of a list begins; empty: this is all
  upto: number; // of a page of messages: the highest id that the hub has looked at
}

// asRefused is the error of a reading: the hub's own, or that it has not answered.
const asRefused = (error: unknown) => (error instanceof Refused ? error : new Refused("unreachable", "The hub did not answer.", 0, "", {}));

export const retry = 2_000; // ms until what the hub could not answer is asked for again

// mayAnswer tells whether a reading is tried again. Without a connection a new one has all read anew.
const mayAnswer = (error: Refused) => open.value && temporary(error);

// Unread says that a change was made, and that the page shows what was before it.
export class Unread extends Refused {}

const nothing: Reading<never> = { value: null, error: null, next: "", upto: 0 };

// Where narrows which notices count, for kinds whose notices always name a room, a task or an
// agent.
export interface Where {
  room?: string;
  task?: number;
  agent?: string;
}

const namesRoom = new Set<ChangedKind>(["seats", "decisions", "artifacts", "invites"]);

function concerns(notice: Changed, kinds: readonly ChangedKind[], where: Where): boolean {
  return notice.kinds.some((kind) => {
    if (!kinds.includes(kind)) return false;
    if (notice.cut) return true;
    if (where.room && namesRoom.has(kind)) return notice.rooms.includes(where.room);
    if (where.task && kind === "tasks") return notice.tasks.includes(where.task);
    if (where.agent && kind === "agents") return notice.agents.length === 0 || notice.agents.includes(where.agent);
    return true;
  });
}

// A path is read again no sooner than gap ms after the last reading began, and than rest times
// as long as that took, so that a long list does not take all of the machine.
const gap = 100;
const rest = 4;
const keep = 40; // readings that nobody shows

class Shared<T> {
  readonly seen: Signal<Reading<T>> = signal(nothing);
  users = 0;
  private reading: Promise<void> | null = null;
  private following: Promise<void> | null = null;
  private ready = 0; // when it may be read again, by performance.now
  private stop = new AbortController();

  constructor(
    readonly path: string,
    readonly kinds: readonly ChangedKind[],
    readonly where: Where,
  ) {}

  // read reads anew. Calls that come while it reads are one more reading after it. It comes
  // back when a reading that began after the call has ended.
  read(): Promise<void> {
    if (this.following) return this.following;
    if (this.reading) return (this.following = this.follow(this.reading));
    return this.begin();
  }

  // fresh reads anew without a rest, for what the person has just changed. A reading under way may
  // have begun before the change.
  async fresh(): Promise<void> {
    await this.reading;
    await (this.reading ?? this.begin());
  }

  private begin(): Promise<void> {
    if (this.stop.signal.aborted) this.stop = new AbortController(); // it was dropped, and is shown again
    return (this.reading = this.load(this.stop.signal));
  }

  private async follow(before: Promise<void>): Promise<void> {
    await before;
    await new Promise((done) => setTimeout(done, this.ready - performance.now()));
    this.following = null;
    if (this.users > 0) await this.read();
  }

  private async load(stop: AbortSignal): Promise<void> {
    const began = performance.now();
    try {
      const answer = await listed<T>(this.path, stop);
      this.seen.value = { value: answer.result, error: null, next: answer.next_cursor ?? "", upto: answer.next_since_id ?? 0 };
    } catch (error) {
      if (!stop.aborted) this.fail(error);
    }
    this.ready = began + Math.max(gap, rest * (performance.now() - began));
    this.reading = null;
  }

  private fail(error: unknown): void {
    const said = asRefused(error);
    this.seen.value = { ...this.seen.value, error: said };
    if (mayAnswer(said)) setTimeout(() => this.users > 0 && open.value && void this.read(), retry);
  }

  end(): void {
    this.stop.abort();
  }
}

const known = new Map<string, Shared<unknown>>();

function drop(one: Shared<unknown>): void {
  one.end();
  known.delete(one.path);
}

listen({
  async changed(notice) {
    const reads: Promise<void>[] = [];
    for (const one of [...known.values()]) {
      if (notice && !concerns(notice, one.kinds, one.where)) continue;
      if (one.users > 0) reads.push(one.read());
      else drop(one);
    }
    await Promise.all(reads);
  },
});

function share(path: string, kinds: readonly ChangedKind[], where: Where): Shared<unknown> {
  let one = known.get(path);
  if (!one) known.set(path, (one = new Shared(path, kinds, where)));
  return one;
}

// reread reads a path anew, if it is shown. It is for what the person has just changed, before the
// notice comes, and for what is outside of the store of the hub, of which no notice tells. Error:
// Unread.
export async function reread(path: string): Promise<void> {
  const one = known.get(path);
  await one?.fresh();
  const error = one?.seen.value.error;
  if (error) throw new Unread(error.code, `It is done, but the page could not read it again: ${error.message}`, error.status, error.fix, error.detail);
}

// put changes something that the page shows, and comes back when the page has read it; shown is the path
// by which the page reads it. Errors: the refusal of the hub; Unread.
export async function put(path: string, body: unknown, shown = path): Promise<void> {
  await call("PUT", path, body);
  await reread(shown);
}

// forgetAll drops all that was read, when the pass of the tab ends.
export function forgetAll(): void {
  for (const one of [...known.values()]) drop(one);
}

// useRead shows what a path answers, and reads it anew when a notice names one of the kinds.
// The same path is always given the same kinds. With null it reads nothing.
export function useRead<T>(path: string | null, kinds: readonly ChangedKind[], where: Where = {}): Reading<T> {
  const one = useMemo(() => (path === null ? null : share(path, kinds, where)), [path]);
  useEffect(() => {
    if (!one) return;
    if (known.get(one.path) !== one) known.set(one.path, one);
    one.users++;
    if (open.value && one.seen.value.value === null) void one.read(); // else a connection has all read
    return () => {
      one.users--;
      if (one.users > 0) return;
      const unused = [...known.values()].filter((other) => other.users === 0);
      if (!connected.value || one.seen.value.error) drop(one);
      else if (unused.length > keep && unused[0]) drop(unused[0]);
    };
  }, [one]);
  return (one?.seen.value as Reading<T> | undefined) ?? nothing;
}

// useTail shows the last messages that a path of the log answers, and those that come after
// and that wants takes. They may be fewer than limit although there are older ones.
export function useTail(path: string, wants: (message: Message) => boolean, limit: number): Reading<Message[]> {
  const seen = useMemo(() => signal<Reading<Message[]>>(nothing), [path]);
  useEffect(() => {
    const stop = new AbortController();
    let late: Message[] | null = null; // what comes while the log is read
    const read = async () => {
      const came: Message[] = (late = []);
      let now: Reading<Message[]>;
      try {
        const rows = await get<Message[]>(`${path}&tail=true&limit=${limit}`, stop.signal);
        const newest = rows.at(-1)?.id ?? 0;
        now = { ...nothing, value: [...rows, ...came.filter((one) => one.id > newest)].slice(-limit) };
      } catch (error) {
        now = { ...seen.value, error: asRefused(error) };
      }
      if (late !== came || stop.signal.aborted) return; // a later reading has begun, or nobody looks
      late = null;
      seen.value = now;
      if (now.error && mayAnswer(now.error)) {
        setTimeout(() => !stop.signal.aborted && open.value && late === null && seen.value.error && void read(), retry);
      }
    };
    const come = new Paced<Message>((rows) => {
      if (late) return void late.push(...rows);
      const known = seen.value.value;
      if (!known || seen.value.error) return; // the next reading has them, and what was missed before them
      const newest = known.at(-1)?.id ?? 0;
      seen.value = { ...nothing, value: [...known, ...rows.filter((one) => one.id > newest)].slice(-limit) };
    });
    const end = listen({
      changed(notice) {
        if (notice === null && late === null && (seen.value.value === null || seen.value.error)) return read();
      },
      message(one) {
        if (one === null) return void read();
        if (!wants(one)) return;
        if (late) late.push(one);
        else come.add(one);
      },
    });
    if (open.value) void read();
    return () => {
      end();
      stop.abort();
    };
  }, [path]);
  return seen.value;
}
