import { hear as note } from "./heard";
import { send } from "./proof";

export interface Event {
  type: string;
  id: string;
  data: string;
}

// Broken says that the stream was refused; status is that of the answer.
export class Broken extends Error {
  constructor(readonly status: number) {
    super("the stream was refused");
  }
}

// events yields what a stream of the hub sends, each event with the id that resumes after
// it. An event without data moves the id alone. Silence for longer than three heartbeats is a
// connection that is gone though nobody has said so.
export async function* events(path: string, lastId: string, stop: AbortSignal): AsyncGenerator<Event> {
  const silent = new AbortController();
  const given = () => silent.abort();
  stop.addEventListener("abort", given);
  let timer = 0;
  const hear = () => {
    note();
    clearTimeout(timer);
    timer = window.setTimeout(given, 45_000);
  };
  try {
    timer = window.setTimeout(given, 45_000);
    const headers: Record<string, string> = lastId === "" ? {} : { "Last-Event-ID": lastId };
    const answer = await send("GET", path, undefined, { headers, stop: silent.signal });
    if (!answer.ok || !answer.body) throw new Broken(answer.status);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let event: Event = { type: "", id: lastId, data: "" };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      hear();
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          yield event;
          event = { type: "", id: event.id, data: "" };
        } else if (line.startsWith("event: ")) event.type = line.slice(7);
        else if (line.startsWith("data: ")) event.data = line.slice(6);
        else if (line.startsWith("id: ")) event.id = line.slice(4);
      }
    }
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", given);
    silent.abort();
  }
}
