import { useMemo, useState } from "preact/hooks";
import { Person } from "../ui/person";
import { Empty } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age, now } from "../ui/time";
import type { Overview } from "../wire";
import { type Branch, between, treesOf } from "./tree";

const long = 10 * 60_000; // ms, of a wait that is drawn in red
const most = { trees: 12, below: 6 }; // that are drawn until the person wants more
const step = 50;

// Branches draws those that wait for one agent.
function Branches({ rows, level }: { rows: readonly Branch[]; level: number }) {
  const [shown, setShown] = useState(level === 0 ? most.trees : most.below);
  const left = rows.length - shown;
  return (
    <ul class={level === 0 ? "waits" : level > 6 ? "below deep" : "below"}>
      {rows.slice(0, left === 1 ? shown + 1 : shown).map((one) => (
        <Twig key={one.id} branch={one} level={level} />
      ))}
      {left > 1 && (
        <li class="edge">
          <button type="button" data-look class="quiet small" onClick={() => setShown(shown + step)}>
            {level === 0 ? `Show more of the ${left} others that are waited for` : `and ${left} more`}
          </button>
        </li>
      )}
    </ul>
  );
}

// Twig draws one agent, for what it waits, and below it those that wait for it.
function Twig({ branch, level }: { branch: Branch; level: number }) {
  const { id, waits, since, circle, below, again } = branch;
  const tooLong = since !== null && now.value - since > long;
  const what = waits.map((wait) => line(wait.what)).join("; ");
  return (
    <li class={["edge", (circle || tooLong) && "bad"].filter(Boolean).join(" ")}>
      <div class="twig">
        <Person id={id} />
        {level === 0 && <span class="soft">is waited for</span>}
        {circle && <span class="badge badge-bad">in a circle</span>}
        {since !== null && (
          <span class={tooLong ? "red" : "soft"}>
            for {tooLong && "long: "}
            <Age at={since} />
          </span>
        )}
        {what && (
          <span class="soft cut" title={what}>
            <Line>{what}</Line>
          </span>
        )}
        {again && <span class="soft">(see above)</span>}
      </div>
      {below.length > 0 && <Branches rows={below} level={level + 1} />}
    </li>
  );
}

const many = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;

// Waits draws which agent waits for which. Who waits for the person has asked something, and its question
// is shown as one: here is only how many those are.
export function Waits({ overview }: { overview: Overview }) {
  const trees = useMemo(() => treesOf(overview.waits, overview.circles), [overview]);
  const among = between(overview.waits);
  const forYou = new Set(overview.waits.filter((wait) => wait.for === "operator").map((wait) => wait.waiter)).size;
  const pairs = new Set(among.map((wait) => `${wait.waiter} ${wait.for}`)).size;
  const agents = new Set(among.flatMap((wait) => [wait.waiter, wait.for])).size;
  const says = `${many(pairs, "wait")} between ${many(agents, "agent")}` + (overview.circles.length > 0 ? `, ${overview.circles.length} in a circle` : "");
  return (
    <section aria-labelledby="waits">
      <h2 id="waits" tabIndex={-1}>
        Waits {pairs > 0 && <span class="soft">{says}</span>}
      </h2>
      {pairs === 0 && <Empty>No agent waits for another.</Empty>}
      {forYou > 0 && <p class="soft">{many(forYou, "agent")} {forYou === 1 ? "waits" : "wait"} for you.</p>}
      {pairs > 0 && (
        <div class="graph" role="group" aria-label={says}>
          <Branches rows={trees} level={0} />
        </div>
      )}
      {overview.more?.waits && <p class="empty">There are more: hubcli status lists all</p>}
    </section>
  );
}
