import { useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { useRead } from "../read";
import { Link, go, place, setQuery, to } from "../route";
import { Dialog } from "../ui/dialog";
import { Heading } from "../ui/heading";
import { said } from "../ui/outcome";
import { Command } from "../ui/said";
import { Line } from "../ui/text";
import type { Message, Room } from "../wire";
import type { Source } from "./looker";
import { Past } from "./past";
import type { Moment } from "./types";
import { addressOf, whenOf } from "./when";

const shown = 100; // messages before a moment

function sourceOf(room: string): Source {
  return (when, stop) => {
    const at = when === "latest" ? "" : "ts" in when ? `&ts=${encodeURIComponent(addressOf(when.ts))}` : `&seq=${when.seq}`;
    return get<Moment>(`/v1/rooms/${encodeURIComponent(room)}/at?limit=${shown}${at}`, stop);
  };
}

async function copy(address: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(new URL(address, location.href).href);
    said.value = "The link to this moment is in the clipboard.";
  } catch {
    said.value = "The browser lets no page write to the clipboard. The address of this page is the link.";
  }
}

// Save says how the replay becomes a file. A command writes it: it holds the whole history, and who
// may have it is decided in the terminal.
function Save({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" data-look onClick={() => setOpen(true)}>
        Save…
      </button>
      {open && (
        <Dialog title="Save this replay" onClose={() => setOpen(false)}>
          <p>
            <Command>{`hubcli room replay ${id}`}</Command> writes it as one HTML file, which a browser shows without a hub and without a network.
          </p>
          <p>The file holds what the agents wrote, secrets too if they wrote some. Direct messages are not in it.</p>
        </Dialog>
      )}
    </>
  );
}

// Before leads to the messages before those that are shown, if there are any. A moment may have fewer
// than were asked for, so their number does not tell.
function Before({ room, moment }: { room: string; moment: Moment }) {
  const first = moment.messages[0]?.id ?? 0;
  const path = `/v1/log?room_id=${encodeURIComponent(room)}&tail=true&limit=1&before_id=${first}`;
  const before = useRead<Message[]>(first > 1 ? path : null, []).value ?? [];
  if (before.length === 0) return null;
  const many = moment.messages.length;
  return (
    <p class="beginning">
      {many === 1 ? "This is the last message" : `These are the last ${many} messages`} before the moment.{" "}
      <Link to={`${to("rooms", room)}?at=${first}`}>Those before</Link>
    </p>
  );
}

// Replay shows a room as it was. The address names the moment, so that a link leads there.
export function Replay({ id, moment: address }: { id: string; moment: string }) {
  const room = useRead<Room>(`/v1/rooms/${encodeURIComponent(id)}`, ["rooms"]).value;
  const source = useMemo(() => sourceOf(id), [id]);
  // Where the person went by the slider is in the address, too; it is not read back.
  const went = useRef("");
  const begin = useRef(whenOf(address));
  if (address !== went.current) begin.current = whenOf(address);
  const name = room?.name ?? id;
  const aside = place.value.query.get("about") === "1";
  return (
    <div class={aside ? "room replay with-about" : "room replay"}>
      <header class="room-head">
        <Heading title={`${name}, replay`}>
          <Line>{name}</Line>
        </Heading>
        <span class="soft grow">as it was</span>
        <Link to={to("rooms", id)}>Back to now</Link>
        <Save id={id} />
        <button type="button" data-look class="about-switch" aria-pressed={aside} onClick={() => setQuery({ about: aside ? "" : "1" })}>
          What there was
        </button>
      </header>
      <Past
        source={source}
        begin={begin.current}
        arrived={(position) => {
          went.current = addressOf(position);
          go(to("rooms", id, "at", went.current) + location.search, true);
        }}
        more={(moment) => <Before room={id} moment={moment} />}
      >
        {(moment) => (
          <button type="button" data-look class="quiet" onClick={() => void copy(to("rooms", id, "at", String(moment.seq)))}>
            Copy link
          </button>
        )}
      </Past>
    </div>
  );
}
