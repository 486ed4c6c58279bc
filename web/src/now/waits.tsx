import { Row } from "../ui/rows";
import { Empty } from "../ui/said";
import { Line } from "../ui/text";
import { Time } from "../ui/time";
import type { Overview } from "../wire";

// Trouble shows what is wrong, and Waits which agent waits for which, in the words of
// hubcli status. Agents that wait for each other are marked by a word, too, not by color alone.
export function Trouble({ overview }: { overview: Overview }) {
  if (overview.trouble.length === 0) return <p class="on">no trouble</p>;
  return (
    <ul class="rows trouble" aria-label="Trouble">
      {overview.trouble.map((one) => (
        <li key={one.kind + one.text}>
          <b>{one.kind}</b> <Line>{one.text}</Line>
        </li>
      ))}
    </ul>
  );
}

export function Waits({ overview }: { overview: Overview }) {
  const inCircle = (waiter: string, other: string) => overview.circles.some((circle) => circle.includes(waiter) && circle.includes(other));
  return (
    <section aria-labelledby="waits">
      <h2 id="waits">Waits</h2>
      {overview.waits.length === 0 && <Empty>No agent waits for another or for you.</Empty>}
      <ul class="rows">
        {overview.waits.map((wait) => (
          <Row key={[wait.waiter, wait.for, wait.reason, wait.what].join(" ")} class={inCircle(wait.waiter, wait.for) ? "off" : ""}>
            <Line>{wait.waiter}</Line> waits for <Line>{wait.for === "operator" ? "you" : wait.for}</Line>
            {inCircle(wait.waiter, wait.for) && <b> in a circle</b>}
            {wait.since && (
              <>
                {" "}
                since <Time at={wait.since} />
              </>
            )}
            : <Line>{wait.what}</Line>
          </Row>
        ))}
      </ul>
    </section>
  );
}
