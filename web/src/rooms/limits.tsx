import { useState } from "preact/hooks";
import { MuteSome, Unmute } from "../agents/acts";
import { useMutes, usePauses } from "../agents/forced";
import type { Mute } from "../agents/types";
import { call } from "../api";
import { put, useRead } from "../read";
import { Act } from "../ui/dialog";
import { Pick } from "../ui/pick";
import { statusOf } from "../ui/places";
import { Alert, Pending, wordsOf } from "../ui/said";
import { Text, line } from "../ui/text";
import { Age } from "../ui/time";
import type { Budget, Pause, Room } from "../wire";

const budgetsPath = "/v1/budgets";

// usePause is the pause that stops the room, of the room itself or of everything. It is null if there
// is none, and undefined as long as that is not known.
function usePause(id: string): { pause: Pause | null | undefined; error: unknown } {
  const { value, error } = usePauses();
  if (!value) return { pause: undefined, error };
  return { pause: value.find((pause) => pause.room_id === id) ?? value.find((pause) => pause.all) ?? null, error };
}

// Paused says that the room is paused, in the words that its agents are told, and resumes it.
export function Paused({ room }: { room: Room }) {
  const { pause, error } = usePause(room.room_id);
  const [refused, setRefused] = useState("");
  if (pause === undefined && error) return <Pending error={error} />;
  if (!pause) return null;
  const resume = async () => {
    try {
      await call("POST", "/v1/pauses/resume", pause.all ? { all: true } : { room_id: room.room_id });
      setRefused("");
    } catch (error) {
      setRefused(wordsOf(error));
    }
  };
  return (
    <div class="banner paused" role="status">
      <div class="row">
        <b>{pause.all ? "Everything is paused" : "The room is paused"}</b> for <Age at={pause.since} />
        <button type="button" class="end" onClick={() => void resume()}>
          Resume
        </button>
      </div>
      <Text>{pause.words}</Text>
      <Alert>{refused}</Alert>
    </div>
  );
}

// PauseRoom pauses the room, unless it is.
export function PauseRoom({ room }: { room: Room }) {
  if (usePause(room.room_id).pause !== null) return null;
  return (
    <Act
      label="Pause the room"
      title="Pause the room"
      reason="What its agents are told"
      run={(words) => call("POST", "/v1/pauses", { room_id: room.room_id, words })}
    >
      <p>Until you resume it, posts, claims and other acts of agents in this room are refused with your words. What you say still gets through.</p>
    </Act>
  );
}

// useMute is the mute of all agents in the room. It is null if there is none, and undefined as long
// as that is not known.
function useMute(id: string): { mute: Mute | null | undefined; error: unknown } {
  const { value, error } = useMutes();
  if (!value) return { mute: undefined, error };
  return { mute: value.find((mute) => mute.agent_id === "" && mute.room_id === id) ?? null, error };
}

// Muted says that what agents post in the room wakes nobody, and ends that.
export function Muted({ room }: { room: Room }) {
  const { mute } = useMute(room.room_id);
  if (!mute) return null;
  return (
    <div class="banner" role="status">
      <div class="row">
        <b>The room is muted</b> for <Age at={mute.since} />: what agents post here wakes nobody.
        <span class="end">
          <Unmute of={mute} name={`everybody in ${line(room.name)}`} />
        </span>
      </div>
      <Text>{mute.reason}</Text>
    </div>
  );
}

// MuteRoom mutes all agents in the room, unless they are.
export function MuteRoom({ room }: { room: Room }) {
  const { mute, error } = useMute(room.room_id);
  if (mute === undefined && error) return <Pending error={error} />;
  if (mute !== null) return null;
  return (
    <MuteSome of={{ room_id: room.room_id }} name={`everybody in ${line(room.name)}`} label="Mute the room">
      <p>What agents post here is kept and can be read, and wakes nobody. What you say still does.</p>
    </MuteSome>
  );
}

interface SettingProps {
  label: string;
  value: string;
  choices: readonly (readonly [string, string])[]; // what is sent, and what is shown
  set: (value: string) => Promise<unknown>;
}

function Setting({ label, value, choices, set }: SettingProps) {
  const [refused, setRefused] = useState("");
  const all = choices.some(([one]) => one === value) ? choices : [...choices, [value, value] as const];
  return (
    <>
      <label class="setting">
        {label}
        <Pick value={value} set={set} onRefused={setRefused}>
          {all.map(([one, shown]) => (
            <option key={one} value={one}>
              {shown}
            </option>
          ))}
        </Pick>
      </label>
      <Alert>{refused}</Alert>
    </>
  );
}

// Limits bounds how long agents talk without progress, and how much they are given to read.
export function Limits({ room }: { room: Room }) {
  const budgets = useRead<Budget[]>(budgetsPath, ["budgets"]);
  const budget = budgets.value?.find((one) => one.room_id === room.room_id)?.chars ?? 0;
  const at = `/v1/rooms/${encodeURIComponent(room.room_id)}/guard`;
  return (
    <section>
      <h2>Limits</h2>
      <Setting
        label="Refuse agents that talk without progress"
        value={room.guard_hops === null || room.guard_hops === undefined ? "" : `${room.guard_hops}`}
        choices={[
          ["", "never, but slow them"],
          ["6", "after 6 turns"],
          ["12", "after 12 turns"],
          ["24", "after 24 turns"],
          ["100", "after 100 turns"],
          ["0", "never, nor watch them"],
        ]}
        set={(value) => put(at, { hops: value === "" ? null : Number(value) }, statusOf(room.room_id))}
      />
      {budgets.value ? (
        <Setting
          label="Give each agent to read, an hour"
          value={`${budget}`}
          choices={[
            ["0", "all"],
            ["10000", "10,000 characters"],
            ["50000", "50,000 characters"],
            ["200000", "200,000 characters"],
          ]}
          set={(value) => put(budgetsPath, { room_id: room.room_id, chars: Number(value) })}
        />
      ) : (
        <Pending error={budgets.error} />
      )}
      <MuteRoom room={room} />
    </section>
  );
}
