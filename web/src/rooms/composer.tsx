import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api";
import { draftOf, write } from "../drafts";
import { useKeys } from "../keys";
import { setQuery } from "../route";
import { Person } from "../ui/person";
import { Alert, wordsOf } from "../ui/said";
import { line } from "../ui/text";
import type { Room, Seat } from "../wire";

interface ComposerProps {
  room: Room;
  seats: readonly Seat[];
  thread?: string; // the words go into it
  reply?: number; // the message that they answer
}

// Composer says something with the operator's authority: to all of the room, to one agent, or
// into a thread. Words that were not sent stay.
export function Composer({ room, seats, thread = "", reply = 0 }: ComposerProps) {
  const name = thread ? `thread ${room.room_id} ${thread}` : `room ${room.room_id}`;
  const { text, to } = draftOf(name);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (reply) field.current?.focus();
  }, [reply]);
  useKeys(thread ? "Thread" : "Room", [{ keys: thread ? "C" : "c", what: thread ? "write into the thread" : "write to the room", run: () => field.current?.focus() }]);
  const send = async () => {
    if (!text.trim() || busy) return;
    setBusy(true);
    try {
      const place = to ? { to_agent: to, channel: room.channel } : { channel: room.channel };
      await call("POST", "/v1/messages", {
        from_agent: "operator",
        body: text,
        ...place,
        ...(thread && { thread_id: thread }),
        ...(reply && { reply_to: reply }),
      });
      write(name, { text: "" });
      setRefused("");
      if (reply) setQuery({ reply: "" });
    } catch (error) {
      setRefused(wordsOf(error));
    }
    setBusy(false);
    field.current?.focus();
  };
  const others = seats.filter((seat) => seat.agent_id !== "operator");
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="row soft">
        <Person id="operator" authority="operator" /> to
        <select aria-label="To" value={to} onChange={(event) => write(name, { to: event.currentTarget.value })}>
          <option value="">{thread ? "all in the thread" : "all in the room"}</option>
          {others.map((seat) => (
            <option key={seat.agent_id} value={seat.agent_id}>
              only {line(seat.agent_id)}
            </option>
          ))}
          {to && others.every((seat) => seat.agent_id !== to) && <option value={to}>only {line(to)}</option>}
        </select>
        {reply > 0 && (
          <span class="badge badge-accent">
            answers #{reply}
            <button type="button" data-look class="quiet small" aria-label="Do not answer it" onClick={() => setQuery({ reply: "" })}>
              ✕
            </button>
          </span>
        )}
        <span class="hint end">
          <kbd>Enter</kbd> says it, <kbd>Shift</kbd>+<kbd>Enter</kbd> is a new line
        </span>
      </div>
      <div class="row">
        <textarea
          ref={field}
          rows={Math.min(8, Math.max(2, text.split("\n").length))}
          aria-label={thread ? "Say something in the thread as the operator" : "Say something in the room as the operator"}
          placeholder={room.archived ? "The room is archived and takes no words." : "what you say wakes those for whom it is"}
          value={text}
          onInput={(event) => write(name, { text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <button type="submit" class="main" disabled={busy || !text.trim()}>
          Say
        </button>
      </div>
      <Alert>{refused}</Alert>
    </form>
  );
}
