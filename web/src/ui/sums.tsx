import type { ComponentChildren } from "preact";
import { Bar } from "./bar";
import { Empty } from "./said";

const most = 12; // bars

// Sum is how much of one kind agents were given.
export interface Sum {
  key: string;
  name: ComponentChildren;
  messages: number;
  chars: number;
  title?: string;
}

interface Counted {
  messages: number;
  chars: number;
}

// sumsBy adds rows up by a key, and puts the greatest sum first.
export function sumsBy<T extends Counted>(rows: readonly T[], key: (row: T) => string, name: (row: T) => ComponentChildren, title?: (row: T) => string): Sum[] {
  const all = new Map<string, Sum>();
  for (const row of rows) {
    const sum = all.get(key(row)) ?? { key: key(row), name: name(row), messages: 0, chars: 0 };
    sum.messages += row.messages;
    sum.chars += row.chars;
    if (title) sum.title = sum.title ? sum.title + ", " + title(row) : title(row);
    all.set(sum.key, sum);
  }
  return [...all.values()].sort((a, b) => b.chars - a.chars);
}

// Sums draws the greatest sums, and says how much all of them are. rest tells where the others are.
export function Sums({ all, title, none, rest }: { all: readonly Sum[]; title: string; none: string; rest: string }) {
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
          <li key={sum.key} title={sum.title}>
            {sum.name}
            <Bar whole={whole} parts={[{ value: sum.chars, look: "accent" }]} label={`${sum.chars} characters in ${sum.messages} messages`} />
            <span class="soft">
              {sum.chars.toLocaleString()} <span class="sr">characters in</span> <span aria-hidden="true">/</span> {sum.messages.toLocaleString()}
              <span class="sr"> messages</span>
            </span>
          </li>
        ))}
      </ul>
      {all.length > most && <p class="empty">and {all.length - most} more: {rest} lists all</p>}
    </div>
  );
}
