import { useState } from "preact/hooks";
import { call } from "../api";
import { useRead } from "../read";
import { Act, Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { Older, pageOf, pageSize } from "../ui/older";
import { RoomName, useRooms } from "../ui/places";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Time } from "../ui/time";
import { qr } from "./qr";

interface Invite {
  invite_id: string;
  code?: string;
  project_id: string;
  room_id: string;
  role: string;
  handle: string;
  harness: string;
  max_uses: number;
  uses: number;
  state: "active" | "exhausted" | "expired" | "revoked";
  expires_at: string;
}

// Invites makes and lists invites. A code is shown once, in a dialog, and is nowhere afterwards.
export function Invites() {
  const { value, error } = useRead<Invite[]>(`/v1/invites?${pageOf("i_")}`, ["invites"]);
  const [made, setMade] = useState<Invite | null>(null);
  return (
    <>
      <NewInvite onMade={setMade} />
      {made?.code && <Once invite={made} code={made.code} onClose={() => setMade(null)} />}
      {!value && <Pending error={error} />}
      {value?.length === 0 && <Empty>No invite was made. An invite lets an agent into a room by a code.</Empty>}
      <ul class="rows">
        {value?.slice(0, pageSize).map((one) => (
          <Row key={one.invite_id} class="row">
            <span class="grow">
              <RoomName id={one.room_id} />
              {one.role && (
                <>
                  {" "}
                  as <Line>{one.role}</Line>
                </>
              )}{" "}
              <span class={one.state === "active" ? "badge on" : "badge"}>{one.state}</span>
              <span class="soft">
                {" "}
                {one.invite_id} · {one.uses} of {one.max_uses} uses · until <Time at={one.expires_at} />
                {one.handle && (
                  <>
                    {" "}
                    · for <Line>{one.handle}</Line>
                  </>
                )}
                {one.harness && (
                  <>
                    {" "}
                    · <Line>{one.harness}</Line>
                  </>
                )}
              </span>
            </span>
            {one.state === "active" && (
              <Act label="Revoke" quiet title={`Revoke ${one.invite_id}?`} run={() => call("POST", `/v1/invites/${one.invite_id}/revoke`, {})}>
                <p>Nobody joins with its code any more. Agents that have joined stay.</p>
              </Act>
            )}
          </Row>
        ))}
      </ul>
      {value && <Older ids={value.map((one) => one.invite_id)} prefix="i_" />}
    </>
  );
}

function NewInvite({ onMade }: { onMade: (invite: Invite) => void }) {
  const { value: rooms, error } = useRooms();
  if (!rooms) return <Pending error={error} />;
  if (rooms.length === 0) {
    return (
      <Empty>
        There is no room to invite to. <Command>hubcli room create --project PROJECT --name NAME</Command>
      </Empty>
    );
  }
  return (
    <details>
      <summary>Invite an agent</summary>
      <Form
        label="Make the invite"
        run={async (values) => {
          const room = rooms.find((one) => one.room_id === values.text("room"));
          const made = await call<Invite>("POST", "/v1/invites", {
            project: room?.project_id,
            room: room?.room_id,
            role: values.text("role"),
            handle: values.text("handle") || null,
            ttl_sec: values.number("hours") === null ? null : Math.round((values.number("hours") ?? 0) * 3600),
            max_uses: values.number("uses"),
          });
          onMade(made);
          return "The invite is made.";
        }}
      >
        <div class="fields">
          <Field label="Room">
            <select name="room">
              {rooms.map((one) => (
                <option key={one.room_id} value={one.room_id}>
                  {line(one.name)}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Role">
            <input name="role" placeholder="reviewer" maxLength={64} />
          </Field>
          <Field label="Name of the agent">
            <input name="handle" placeholder="any" maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._@:+\-]*" />
          </Field>
          <Field label="Good for hours">
            <input name="hours" type="number" min={0.01} max={720} step="any" placeholder="24" />
          </Field>
          <Field label="Uses">
            <input name="uses" type="number" min={1} max={1000} placeholder="1" />
          </Field>
        </div>
      </Form>
    </details>
  );
}

const usual = "http://127.0.0.1:6969";

function Once({ invite, code, onClose }: { invite: Invite; code: string; onClose: () => void }) {
  const command = `hubcli join ${code}${location.origin === usual ? "" : ` --base-url ${location.origin}`}`;
  return (
    <Dialog title="An invite, shown once" onClose={onClose}>
      <p>
        It leads to <RoomName id={invite.room_id} />. The code is a secret, and is not shown again. The invited agent runs:
      </p>
      <p>
        <Command>{command}</Command>
      </p>
      <Code text={command} />
      <p class="row">
        <button type="button" data-look class="main" onClick={() => void navigator.clipboard.writeText(command)}>
          Copy the command
        </button>
        <button type="button" data-look class="quiet" onClick={onClose}>
          Done
        </button>
      </p>
    </Dialog>
  );
}

// Code draws a QR code, dark on light in both themes, as readers want it.
function Code({ text }: { text: string }) {
  const grid = qr(text);
  if (!grid) return null;
  const size = grid.length + 8;
  const path = grid.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : []))).join("");
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="The command as a QR code" shape-rendering="crispEdges">
      <path class="light" d={`M0 0h${size}v${size}h-${size}z`} />
      <path class="dark" d={path} />
    </svg>
  );
}
