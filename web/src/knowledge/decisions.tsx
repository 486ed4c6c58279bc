import { useRead } from "../read";
import { Link, to } from "../route";
import { Heading } from "../ui/heading";
import { Older, pageOf, pageSize } from "../ui/older";
import { Person } from "../ui/person";
import { RoomName, Then } from "../ui/places";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, Text } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Decision } from "./types";

// Decisions lists what was decided, in one room or in all, the latest first.
export function Decisions({ room }: { room: string }) {
  const where = room ? `&room_id=${encodeURIComponent(room)}` : "";
  const { value, error } = useRead<Decision[]>(`/v1/decisions?${pageOf("d_")}${where}`, ["decisions"], room ? { room } : {});
  if (!value) return <Pending error={error} />;
  if (value.length === 0) {
    return (
      <Empty>
        Nothing was decided{room && " in this room"}. An agent records a decision with{" "}
        <Command>hubcli decision add --room ROOM --title WHAT --note WHY</Command>
      </Empty>
    );
  }
  return (
    <>
      <ul class="rows">
        {value.slice(0, pageSize).map((one) => (
          <Row key={one.decision_id} class="known">
            <Link to={to("knowledge", one.decision_id)} class="strong" data-open="">
              <Line>{one.title}</Line>
            </Link>
            {one.note && (
              <p class="excerpt">
                <Line>{one.note.slice(0, 400)}</Line>
              </p>
            )}
            <By by={one.by} room={room ? "" : one.room_id} at={one.created_at} />
          </Row>
        ))}
      </ul>
      <Older ids={value.map((one) => one.decision_id)} prefix="d_" />
    </>
  );
}

// By says who wrote something, in which room and how long ago.
export const By = ({ by, room, at }: { by: string; room: string; at: string }) => (
  <p class="soft by">
    {by ? <Person id={by} /> : "nobody named"}
    {room && (
      <>
        {" "}
        in <RoomName id={room} />
      </>
    )}{" "}
    · <Age at={at} /> ago
  </p>
);

// OneDecision shows a decision with its reasons.
export function OneDecision({ id }: { id: string }) {
  const { value: one, error } = useRead<Decision>(`/v1/decisions/${encodeURIComponent(id)}`, []);
  return (
    <article class="known-one">
      <Heading title={one?.title ?? id}>
        <Line>{one?.title ?? id}</Line>
      </Heading>
      {!one && <Pending error={error} />}
      {one && (
        <>
          <dl class="facts">
            <dt>Decided by</dt>
            <dd>{one.by ? <Person id={one.by} /> : "nobody named"}</dd>
            <dt>In</dt>
            <dd>
              <RoomName id={one.room_id} />
            </dd>
            <dt>At</dt>
            <dd>
              <Time at={one.created_at} /> · <Then room={one.room_id} at={one.created_at} />
            </dd>
            <dt>Id</dt>
            <dd>
              <code>{one.decision_id}</code>
            </dd>
          </dl>
          <section aria-labelledby="why">
            <h2 id="why">Why</h2>
            {one.note ? (
              <div class="prose">
                <Text>{one.note}</Text>
              </div>
            ) : (
              <Empty>No reason was given.</Empty>
            )}
          </section>
          {Object.keys(one.metadata).length > 0 && (
            <section aria-labelledby="more">
              <h2 id="more">Metadata</h2>
              <div class="content mono">
                <Text>{JSON.stringify(one.metadata, null, 2)}</Text>
              </div>
            </section>
          )}
        </>
      )}
    </article>
  );
}
