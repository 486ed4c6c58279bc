import { useRead } from "../read";
import { Bar } from "../ui/bar";
import { AgentLink } from "../ui/links";
import { Empty } from "../ui/said";
import { Age } from "../ui/time";
import type { Given, Ledger } from "./types";

const most = 12; // bars

interface Sum {
  other: string;
  messages: number;
  chars: number;
  paths: Set<string>;
}

function sums(rows: readonly Given[], other: (row: Given) => string): Sum[] {
  const all = new Map<string, Sum>();
  for (const row of rows) {
    const sum = all.get(other(row)) ?? { other: other(row), messages: 0, chars: 0, paths: new Set() };
    sum.messages += row.messages;
    sum.chars += row.chars;
    sum.paths.add(row.path);
    all.set(sum.other, sum);
  }
  return [...all.values()].sort((a, b) => b.chars - a.chars);
}

function Sums({ all, title, none }: { all: readonly Sum[]; title: string; none: string }) {
  const whole = Math.max(1, ...all.map((sum) => sum.chars));
  const chars = all.reduce((total, sum) => total + sum.chars, 0);
  const messages = all.reduce((total, sum) => total + sum.messages, 0);
  return (
    <div>
      <h3>
        {title}: <span class="soft">{`${chars.toLocaleString()} characters in ${messages.toLocaleString()} messages`}</span>
      </h3>
      {all.length === 0 && <Empty>{none}</Empty>}
      <ul class="bars" aria-label={title}>
        {all.slice(0, most).map((sum) => (
          <li key={sum.other} title={`by ${[...sum.paths].join(", ")}`}>
            <AgentLink id={sum.other} />
            <Bar whole={whole} parts={[{ value: sum.chars, look: "accent" }]} label={`${sum.chars} characters in ${sum.messages} messages`} />
            <span class="soft">
              {sum.chars.toLocaleString()} <span class="sr">characters in</span> <span aria-hidden="true">/</span> {sum.messages.toLocaleString()}
              <span class="sr"> messages</span>
            </span>
          </li>
        ))}
      </ul>
      {all.length > most && <p class="empty">and {all.length - most} more: hubcli app attention lists all</p>}
    </div>
  );
}

// Attention shows what an agent was given to read by whom, and what others were given of it.
export function Attention({ id }: { id: string }) {
  const ledger = useRead<Ledger>("/v1/attention/ledger", ["agents", "budgets"]).value;
  if (!ledger) return null;
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">
        Attention <span class="soft">since the hub started, <Age at={ledger.since} /> ago</span>
      </h2>
      <div class="pair">
        <Sums all={sums(ledger.rows.filter((row) => row.agent_id === id), (row) => row.from_agent)} title="It was given" none="It was given nothing to read." />
        <Sums all={sums(ledger.rows.filter((row) => row.from_agent === id), (row) => row.agent_id)} title="Others were given of it" none="Nobody was given anything of it." />
      </div>
    </section>
  );
}
