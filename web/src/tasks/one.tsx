import { useKeys } from "../keys";
import { heldClaim, heldLock } from "../leases/held";
import { LeaseRows } from "../leases/rows";
import { useRead, useTail } from "../read";
import { Link, go, to } from "../route";
import { Attachments } from "../ui/attachments";
import { Body, Entry } from "../ui/entry";
import { Heading } from "../ui/heading";
import { AgentLink, Status, TaskLink } from "../ui/links";
import { RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Claim, Lock, Message, Task } from "../wire";
import { Acts, Offer } from "./acts";
import { RunBar, saysOf } from "./runs";
import { ended, type OneTask, type Run } from "./types";

const recent = 400; // the first and the latest messages among which those about the task are looked for

// about says whether a message is about the task: an answer to it, or what the hub says of it.
const about = (m: Message, task: OneTask) =>
  m.id !== task.task_id && (m.reply_to === task.task_id || m.id === task.result_message_id || (task.thread_id !== null && m.thread_id === task.thread_id));

// logOf is the part of the log in which these messages are.
function logOf(task: OneTask): string {
  const asked = new URLSearchParams({ direct: "true" });
  if (task.thread_id) asked.set("thread_id", task.thread_id);
  else if (task.room_id) asked.set("room_id", task.room_id);
  if (task.completed_at) asked.set("until", new Date(Date.parse(task.completed_at) + 60_000).toISOString());
  asked.set("since", task.created_at);
  return `/v1/log?${asked}`;
}

// Other is another task in a list of one task: its state, title and agent.
function Other({ id }: { id: number }) {
  const task = useRead<Task>(`/v1/tasks/${id}`, ["tasks"], { task: id }).value;
  return (
    <Row class="other">
      {task && <Status task={task} />} <TaskLink id={id} title={task?.title ?? ""} />{" "}
      {task?.assignee && <AgentLink id={task.assignee} />}
    </Row>
  );
}

function Others({ ids, title }: { ids: readonly number[]; title: string }) {
  if (ids.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="rows" aria-label={title}>
        {ids.slice(0, 20).map((id) => (
          <Other key={id} id={id} />
        ))}
      </ul>
      {ids.length > 20 && <p class="empty">and {ids.length - 20} more</p>}
    </section>
  );
}

function Notes({ task }: { task: OneTask }) {
  const log = logOf(task);
  const first = useRead<Message[]>(`${log}&limit=${recent}`, []);
  const result = useRead<Message>(task.result_message_id === null ? null : `/v1/messages/${task.result_message_id}`, []);
  const tail = useTail(log, (m) => about(m, task), recent);
  const found = new Map([...(first.value ?? []), ...(result.value ? [result.value] : []), ...(tail.value ?? [])].filter((m) => about(m, task)).map((m) => [m.id, m]));
  const notes = [...found.values()].sort((a, b) => a.id - b.id).slice(-100);
  // The two pages are all there is where they meet. Each may be shorter than was asked for.
  const last = tail.value ?? [];
  const unread = [first, tail, ...(task.result_message_id === null ? [] : [result])].find((one) => !one.value);
  const met = last[0] ? (first.value?.at(-1)?.id ?? 0) >= last[0].id : first.value?.length === 0;
  return (
    <section aria-labelledby="notes">
      <h2 id="notes">History</h2>
      {unread && <Pending error={unread.error} />}
      {!unread && notes.length === 0 && (
        <Empty>{met ? "Nothing was said about it." : "Nothing was found about it."} Answers to the task, results and hand-overs show here.</Empty>
      )}
      <ol class="rows" aria-label="History">
        {notes.map((m) => (
          <Entry key={m.id} message={m} />
        ))}
      </ol>
      {!unread && first.value && !met && (
        <Empty>
          Only the first {first.value.length} and the latest {last.length} messages were looked through.
        </Empty>
      )}
    </section>
  );
}

// HeldFor shows the leases for the task. They are looked for among those of its agent.
function HeldFor({ task }: { task: OneTask }) {
  const of = task.assignee && !ended(task) ? `?active_only=true&limit=1000&owner_agent_id=${encodeURIComponent(task.assignee)}` : null;
  const claims = useRead<Claim[]>(of && "/v1/claims" + of, ["leases"]).value ?? [];
  const locks = useRead<Lock[]>(of && "/v1/locks" + of, ["leases"]).value ?? [];
  const held = [...claims.map(heldClaim), ...locks.map(heldLock)].filter((one) => one.task === task.task_id).slice(0, 50);
  if (held.length === 0) return null;
  return (
    <section class="held" aria-labelledby="heldfor">
      <h2 id="heldfor">Held for it</h2>
      <LeaseRows rows={held} label="Held for it" holder={false} />
    </section>
  );
}

function Facts({ task }: { task: OneTask }) {
  const run = useRead<Run>(task.run_id && `/v1/runs/${encodeURIComponent(task.run_id)}`, ["runs", "tasks"]).value;
  return (
    <dl class="facts">
      <dt>Agent</dt>
      <dd>{task.assignee ? <AgentLink id={task.assignee} /> : <span class="soft">nobody</span>}</dd>
      <dt>Given by</dt>
      <dd>
        <AgentLink id={task.created_by} /> <Time at={task.created_at} />
      </dd>
      {task.parent_task_id !== null && (
        <>
          <dt>Part of</dt>
          <dd>
            <TaskLink id={task.parent_task_id} />
          </dd>
        </>
      )}
      {task.room_id && (
        <>
          <dt>Room</dt>
          <dd>
            <RoomName id={task.room_id} />
          </dd>
        </>
      )}
      {task.thread_id && (
        <>
          <dt>Thread</dt>
          <dd>
            {task.room_id ? (
              <Link to={`${to("rooms", task.room_id)}?thread=${encodeURIComponent(task.thread_id)}`}>
                <Line>{task.thread_id}</Line>
              </Link>
            ) : (
              <Line>{task.thread_id}</Line>
            )}
          </dd>
        </>
      )}
      {run && (
        <>
          <dt>Run</dt>
          <dd>
            <Link to={`${to("tasks")}?run=${encodeURIComponent(run.run_id)}`}>
              <Line>{run.title}</Line>
            </Link>
            <RunBar run={run} />
            <span class="soft">{saysOf(run)}</span>
          </dd>
        </>
      )}
      <dt>{task.completed_at ? "Ended" : "Changed"}</dt>
      <dd>
        <Age at={task.completed_at ?? task.updated_at} /> ago
      </dd>
    </dl>
  );
}

function Shown({ task }: { task: OneTask }) {
  const opened = useRead<Message>(`/v1/messages/${task.task_id}`, []).value;
  const subtasks = useRead<Task[]>(`/v1/tasks?parent_id=${task.task_id}&limit=100`, ["tasks"]);
  const children = subtasks.value ?? [];
  const details = opened && opened.body.trim() !== task.title.trim() ? opened.body : "";
  return (
    <>
      <Offer task={task} />
      <Acts task={task} />
      <div class="sides">
        <div>
          {(details || (opened?.attachments?.length ?? 0) > 0) && (
            <section class="details" aria-label="Details">
              {details && <Body>{details}</Body>}
              <Attachments of={opened?.attachments} />
            </section>
          )}
          {!ended(task) && <Others ids={task.open_blockers ?? []} title="Waits for" />}
          <Others ids={task.blocks ?? []} title="Wait for it" />
          {children.length > 0 && (
            <section aria-labelledby="children">
              <h2 id="children">
                Subtasks <span class="count">{`${children.filter((one) => one.status === "done").length}/${children.length}${subtasks.next && "+"}`}</span>
              </h2>
              <ul class="rows" aria-label="Subtasks">
                {children.toReversed().map((one) => (
                  <Row key={one.task_id} class="other">
                    <Status task={one} /> <TaskLink id={one.task_id} title={one.title} /> {one.assignee && <AgentLink id={one.assignee} />}
                  </Row>
                ))}
              </ul>
              {subtasks.next && <p class="empty">These are the newest {children.length}; there are more.</p>}
            </section>
          )}
          <HeldFor task={task} />
          <Notes task={task} />
        </div>
        <Facts task={task} />
      </div>
    </>
  );
}

// OneTaskView is the page of one task.
export function OneTaskView({ id }: { id: string }) {
  const known = /^[1-9][0-9]{0,15}$/.test(id);
  const task = useRead<OneTask>(known ? `/v1/tasks/${id}` : null, ["tasks"], known ? { task: Number(id) } : {});
  useKeys("Task", [{ keys: "u", what: "up to all tasks", run: () => go(to("tasks")) }]);
  const title = task.value?.title ?? `Task ${id}`;
  return (
    <>
      <p>
        <Link to={to("tasks")}>Tasks</Link> <span class="soft">/ #{line(id)}</span>
      </p>
      <div class="title">
        <Heading title={title}>
          <Line>{title}</Line>
        </Heading>
        {task.value && <Status task={task.value} />}
      </div>
      {!known && <Empty>A task has the number of the message that opened it.</Empty>}
      {known && !task.value && <Pending error={task.error} />}
      {task.value && <Shown task={task.value} />}
    </>
  );
}
