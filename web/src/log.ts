import { whole } from "./api";
import type { Message } from "./wire";

// A page of the log may be shorter than was asked for, although there are more rows: an answer has
// at most 2 MiB of rows, and less while the hub has little memory for answers. It may even be empty,
// because one call looks at no more than some messages. So these readers say what is proved, and a
// short page alone proves nothing.

const looksAt = 20_000; // messages of each scope that one call looks at; docs/api.md says so

export interface Back {
  rows: Message[]; // rising
  before: number; // the id before which to read on; 1: nothing is before the rows
}

// readBack reads the rows right before an id, or the latest ones with 0. The path has its first
// parameters, and none that says where to begin.
export async function readBack(path: string, limit: number, before: number, stop?: AbortSignal): Promise<Back> {
  const upto = before > 0 ? `&before_id=${before}` : "";
  const { result: rows, next_since_id: last = 0 } = await whole<Message[]>("GET", `${path}&tail=true&limit=${limit}${upto}`, undefined, stop);
  const first = rows[0]?.id ?? last + 1;
  if (first <= 1 || rows.length >= limit) return { rows, before: first };
  // What is read from the other side tells where the log begins.
  const { result: begin, next_since_id: looked = 0 } = await whole<Message[]>("GET", `${path}&limit=1`, undefined, stop);
  const least = begin[0]?.id ?? looked + 1; // nothing is before it
  if (least >= first) return { rows, before: 1 };
  if (rows.length > 0) return { rows, before: first };
  return { rows, before: first - looksAt > least ? first - looksAt : 1 };
}

export interface On {
  rows: Message[]; // rising
  since: number; // the id behind which to read on
  end: boolean; // there was nothing behind it
}

// readOn reads the rows right behind an id.
export async function readOn(path: string, limit: number, since: number, stop?: AbortSignal): Promise<On> {
  const { result: rows, next_since_id: looked = since } = await whole<Message[]>("GET", `${path}&limit=${limit}&since_id=${since}`, undefined, stop);
  return { rows, since: looked, end: looked <= since };
}
