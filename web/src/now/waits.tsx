import { useMemo } from "preact/hooks";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Empty } from "../ui/said";
import { Line } from "../ui/text";
import { Age, now } from "../ui/time";
import type { Overview } from "../wire";
import { WaitGraph, long } from "./graph";

const shown = 100; // waits

// Trouble shows what is wrong, in the words of hubcli status.
export function Trouble({ overview }: { overview: Overview }) {
  if (overview.trouble.length === 0) return <p class="on">no trouble</p>;
  return (
    <ul class="trouble" aria-label="Trouble">
      {overview.trouble.map((one) => (
        <Row key={one.kind + one.text}>
          <span class="badge">{one.kind}</span> <Line>{one.text}</Line>
        </Row>
      ))}
      {overview.more?.trouble && <li class="empty">Some are left out: hubcli status lists all</li>}
    </ul>
  );
}

// Waits shows which agent waits for which, drawn and in words. A circle and a long wait are red,
// and a word says so, too.
export function Waits({ overview }: { overview: Overview }) {
  const inCircle = (waiter: string, other: string) => overview.circles.some((circle) => circle.includes(waiter) && circle.includes(other));
  // Those in a circle first, so that a list that is cut has them.
  const waits = useMemo(() => overview.waits.toSorted((a, b) => Number(inCircle(b.waiter, b.for)) - Number(inCircle(a.waiter, a.for))).slice(0, shown), [overview]);
  return (
    <section aria-labelledby="waits">
      <h2 id="waits">Waits</h2>
      {overview.waits.length === 0 && <Empty>No agent waits for another or for you.</Empty>}
      <WaitGraph overview={overview} waits={waits} />
      <ul class="rows waits">
        {waits.map((wait) => {
          const circle = inCircle(wait.waiter, wait.for);
          const tooLong = wait.since !== null && now.value - Date.parse(wait.since) > long;
          return (
            <Row key={[wait.waiter, wait.for, wait.reason, wait.what].join(" ")}>
              <Person id={wait.waiter} /> waits for {wait.for === "operator" ? <b>you</b> : <Person id={wait.for} />}
              {circle && <span class="badge badge-bad">in a circle</span>}{" "}
              {wait.since && (
                <span class={tooLong ? "red" : "soft"}>
                  for {tooLong && "long: "}
                  <Age at={wait.since} />
                </span>
              )}{" "}
              <span class="soft">
                <Line>{wait.what}</Line>
              </span>
            </Row>
          );
        })}
      </ul>
      {(overview.waits.length > shown || overview.more?.waits) && (
        <p class="empty">
          {overview.more?.waits ? "There are more" : `and ${overview.waits.length - shown} more`}: hubcli status lists all
        </p>
      )}
    </section>
  );
}
