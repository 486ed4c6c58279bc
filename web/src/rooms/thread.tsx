import { setQuery } from "../route";
import { Line } from "../ui/text";
import type { Room, Seat } from "../wire";
import { Composer } from "./composer";
import type { Event } from "./entry";
import { Timeline } from "./timeline";

const none: readonly Event[] = [];

// Thread shows one thread beside the room, and takes words into it.
export function Thread({ id, room, seats, reply }: { id: string; room: Room; seats: readonly Seat[]; reply: number }) {
  return (
    <aside class="beside thread" aria-label="Thread">
      <header class="row">
        <h2>
          <span class="soft">Thread</span> <Line>{id}</Line>
        </h2>
        <button type="button" data-look class="quiet end" aria-label="Close the thread" onClick={() => setQuery({ thread: "", reply: "" })}>
          ✕
        </button>
      </header>
      <Timeline
        key={id}
        path={`/v1/log?direct=true&thread_id=${encodeURIComponent(id)}`}
        wants={(message) => message.thread_id === id}
        events={none}
        at={0}
        label="Messages of the thread"
      />
      <Composer room={room} seats={seats} thread={id} reply={reply} />
    </aside>
  );
}
