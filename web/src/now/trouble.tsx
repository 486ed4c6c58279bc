import { Row } from "../ui/rows";
import { Line } from "../ui/text";
import type { Overview, Trouble as One } from "../wire";

// What each kind of trouble is called where there is much of it.
const names: Record<string, string> = {
  asleep: "agents sleep over direct messages",
  away: "tasks are under way with agents that are not there",
  prompt: "agents wait at a prompt of their program",
  stuck: "tasks wait for tasks that have failed",
  expires: "leases end soon, and agents wait for them",
};

const red = new Set(["hub", "stuck"]);
const few = 2; // that are shown without a fold

const Told = ({ one }: { one: One }) => (
  <Row class={red.has(one.kind) ? "bad" : ""}>
    <span class="badge">{one.kind}</span> <Line>{one.text}</Line>
  </Row>
);

// Trouble shows what is wrong in the words of hubcli status, much of one kind as one line. Circles are drawn
// among the waits, and not told here again.
export function Trouble({ overview }: { overview: Overview }) {
  const rows = overview.trouble.filter((one) => one.kind !== "circle");
  if (rows.length === 0) return null;
  const kinds = [...new Set(rows.map((one) => one.kind))];
  return (
    <section aria-labelledby="trouble">
      <h2 id="trouble">Trouble</h2>
      <ul class="rows trouble" aria-label="Trouble">
        {kinds.map((kind) => {
          const of = rows.filter((one) => one.kind === kind);
          if (of.length <= few || !names[kind]) return of.map((one) => <Told key={one.kind + one.text} one={one} />);
          return (
            <Row key={kind} class={red.has(kind) ? "bad" : ""}>
              <details>
                <summary>
                  <span class="badge">{kind}</span> {of.length} {names[kind]}
                </summary>
                <ul>
                  {of.map((one) => (
                    <li key={one.text}>
                      <Line>{one.text}</Line>
                    </li>
                  ))}
                </ul>
              </details>
            </Row>
          );
        })}
        {overview.more?.trouble && <li class="empty">Some are left out: hubcli status lists all</li>}
      </ul>
    </section>
  );
}
