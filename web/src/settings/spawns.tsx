import { call } from "../api";
import { put, useRead } from "../read";
import { Link, to } from "../route";
import { Act } from "../ui/dialog";
import { Field, Form, Tick } from "../ui/form";
import { Older, pageOf, pageSize } from "../ui/older";
import { Person } from "../ui/person";
import { RoomName, useRooms } from "../ui/places";
import { Row, keysOf } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age } from "../ui/time";

interface Spawn {
  spawn_id: string;
  room_id: string;
  harness: string;
  agent_id: string;
  by: string;
  role: string;
  title: string;
  status: string;
  stopping: boolean;
  exit_code: number | null;
  signal: string;
  reason: string;
  artifact_id: string | null;
  created_at: string;
}

interface Policy {
  commands: { harness: string; args: string[]; env?: string[]; dir?: string; timeout_sec?: number }[];
  allow: { room_id: string; harness: string; max_seats?: number }[];
  max_running: number;
  max_per_hour: number;
  max_depth: number;
  remote: boolean;
  version: number;
}

const policyPath = "/v1/spawn/policy";

// Spawns shows what runs for agents, and what the operator allows.
export function Spawns() {
  const policy = useRead<Policy>(policyPath, ["settings"]);
  return (
    <>
      <Running />
      {policy.value ? <Allowed policy={policy.value} /> : <Pending error={policy.error} />}
    </>
  );
}

function Running() {
  const { value, error } = useRead<Spawn[]>(`/v1/spawn?${pageOf("sp_")}`, ["spawns"]);
  if (!value) return <Pending error={error} />;
  return (
    <section aria-labelledby="spawns">
      <h2 id="spawns">Spawns</h2>
      {value.length === 0 && <Empty>Nothing was spawned. Agents start other agents only where the policy below allows it.</Empty>}
      <ul class="rows">
        {value.slice(0, pageSize).map((one) => (
          <Row key={one.spawn_id} class="row">
            <span class="grow">
              <Person id={one.agent_id} /> <span class={one.status === "running" ? "badge on" : "badge"}>{one.stopping && one.status === "running" ? "stopping" : one.status}</span>{" "}
              <span class="soft">
                <Line>{one.harness}</Line> in <RoomName id={one.room_id} />, by <Line>{one.by}</Line>, <Age at={one.created_at} /> ago
                {one.exit_code !== null && `, exit code ${one.exit_code}`}
                {(one.reason || one.signal) && (
                  <>
                    : <Line>{one.reason || one.signal}</Line>
                  </>
                )}
              </span>
              {one.title && (
                <>
                  {" "}
                  <Line>{one.title}</Line>
                </>
              )}
              {one.artifact_id && (
                <>
                  {" "}
                  <Link to={to("knowledge", one.artifact_id)}>what it printed</Link>
                </>
              )}
            </span>
            {(one.status === "running" || one.status === "starting") && !one.stopping && (
              <Act label="Stop" title={`Stop ${one.agent_id}?`} run={() => call("POST", `/v1/spawn/${one.spawn_id}/stop`, {})}>
                <p>Its process and what that started have five seconds, and are killed then.</p>
              </Act>
            )}
          </Row>
        ))}
      </ul>
      <Older ids={value.map((one) => one.spawn_id)} prefix="sp_" />
    </section>
  );
}

// Each change sends the whole policy with the version that it was made from, so that nobody's change
// is lost. save comes back when the page has read the new version.
const save = (policy: Policy, change: Partial<Policy>) => put(policyPath, { ...policy, ...change });

function Allowed({ policy }: { policy: Policy }) {
  return (
    <section aria-labelledby="policy">
      <h2 id="policy">Policy</h2>
      <div class="cards">
        <Commands policy={policy} />
        <Allowances policy={policy} />
        <section aria-label="Limits">
          <h3>Limits</h3>
          <Form
            label="Save"
            run={async (values) => {
              const limits = { max_running: values.number("running") ?? 1, max_per_hour: values.number("hour") ?? 1, max_depth: values.number("depth") ?? 1 };
              await save(policy, { ...limits, remote: values.is("remote") });
              return "Saved.";
            }}
          >
            <Field label="At once, in the whole hub">
              <input name="running" type="number" min={1} max={64} required defaultValue={policy.max_running} />
            </Field>
            <Field label="Started in any hour">
              <input name="hour" type="number" min={1} max={10000} required defaultValue={policy.max_per_hour} />
            </Field>
            <Field label="Depth (1: who was spawned spawns nobody)">
              <input name="depth" type="number" min={1} max={8} required defaultValue={policy.max_depth} />
            </Field>
            <Tick name="remote" on={policy.remote} label="Agents on other machines may spawn, too" />
          </Form>
        </section>
      </div>
    </section>
  );
}

function Commands({ policy }: { policy: Policy }) {
  const keys = keysOf(policy.commands);
  return (
    <section aria-label="Commands">
      <h3>Commands</h3>
      {policy.commands.length === 0 && <Empty>No command is set, so nothing can be spawned.</Empty>}
      <ul class="rows">
        {policy.commands.map((one, i) => (
          <Row key={keys[i]}>
            <p class="row">
              <b class="grow">
                <Line>{one.harness}</Line>
              </b>
              <Act label="Remove" quiet title={`Remove the command of ${line(one.harness)}?`} run={() => save(policy, { commands: policy.commands.filter((_, j) => j !== i) })}>
                <p>It starts no more agents. What runs goes on.</p>
              </Act>
            </p>
            <p>
              {one.args.map((arg, j) => (
                <code key={j} class="arg">
                  <Line>{arg}</Line>
                </code>
              ))}
            </p>
            <p class="soft">
              {one.dir ? (
                <>
                  in <Line>{one.dir}</Line>
                </>
              ) : (
                "in the folder of the room"
              )}
              , {one.timeout_sec ?? 3600} s{one.env?.length ? `, with ${one.env.join(", ")}` : ""}
            </p>
          </Row>
        ))}
      </ul>
      <p class="soft">
        Which programs are started is said in a terminal: <Command>hubcli app spawns policy --set FILE</Command>
      </p>
    </section>
  );
}

function Allowances({ policy }: { policy: Policy }) {
  const rooms = useRooms().value ?? [];
  const keys = keysOf(policy.allow);
  return (
    <section aria-label="Rooms that may spawn">
      <h3>Rooms that may spawn</h3>
      {policy.allow.length === 0 && <Empty>No room may spawn.</Empty>}
      <ul class="rows">
        {policy.allow.map((one, i) => (
          <Row key={keys[i]} class="row">
            <span class="grow">
              <RoomName id={one.room_id} />: <Line>{one.harness}</Line>, {one.max_seats ?? 4} at once
            </span>
            <Act label="Remove" quiet title="Remove this?" run={() => save(policy, { allow: policy.allow.filter((_, j) => j !== i) })}>
              <p>Agents of the room start no more of these. What runs goes on.</p>
            </Act>
          </Row>
        ))}
      </ul>
      {rooms.length > 0 && policy.commands.length > 0 && (
        <details>
          <summary>Allow a room</summary>
          <Form
            label="Allow"
            run={async (values) => {
              const allowance = { room_id: values.text("room"), harness: values.text("harness"), max_seats: values.number("seats") ?? 4 };
              await save(policy, { allow: [...policy.allow, allowance] });
              return "It is allowed.";
            }}
          >
            <Field label="Room">
              <select name="room">
                {rooms.map((one) => (
                  <option key={one.room_id} value={one.room_id}>
                    {line(one.name)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Harness">
              <select name="harness">
                {[...new Set(policy.commands.map((one) => one.harness))].map((one) => (
                  <option key={one} value={one}>
                    {line(one)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="At once">
              <input name="seats" type="number" min={1} max={64} placeholder="4" />
            </Field>
          </Form>
        </details>
      )}
    </section>
  );
}
