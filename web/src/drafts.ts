import { signal } from "@preact/signals";

// Drafts are words that a person has typed and not sent yet. They stay as long as the tab does: when the
// person goes to another page, when the page is loaded anew, and when its pass ends. They are in the
// sessionStorage of the tab, which ends with it.

export interface Draft {
  text: string;
  to: string; // for whom; empty: for all
}

const place = "hubcli.drafts";
const most = 100; // drafts; the oldest gives way

function read(): ReadonlyMap<string, Draft> {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place) ?? "[]") as [string, Draft][];
    return new Map(kept.filter(([name, draft]) => typeof name === "string" && typeof draft.text === "string" && typeof draft.to === "string"));
  } catch {
    return new Map(); // no storage, or what no console has written
  }
}

// drafts are by what they are for: "ask", "room", "thread" or "say", and which.
export const drafts = signal<ReadonlyMap<string, Draft>>(read());

const none: Draft = { text: "", to: "" };

export const draftOf = (name: string): Draft => drafts.value.get(name) ?? none;

// write keeps a draft. One without words and for nobody is dropped.
export function write(name: string, change: Partial<Draft>): void {
  const next = new Map(drafts.peek());
  const draft = { ...(next.get(name) ?? none), ...change };
  next.delete(name);
  if (draft.text !== "" || draft.to !== "") next.set(name, draft);
  for (const oldest of next.keys()) {
    if (next.size <= most) break;
    next.delete(oldest);
  }
  drafts.value = next;
  try {
    sessionStorage.setItem(place, JSON.stringify([...next]));
  } catch {
    // no storage, or it is full: they stay until the page is loaded anew
  }
}
