import type { Agent, Ask, Overview } from "../wire";

interface SumProps {
  overview: Overview;
  asks: readonly Ask[];
  agents: readonly Agent[];
  more: boolean; // the hub has more agents
}

// goTo shows a part of the page, and lets a reader with the keyboard go on from there.
function goTo(id: string): void {
  const part = document.getElementById(id);
  part?.scrollIntoView({ block: "start" });
  part?.focus({ preventScroll: true });
}

// stuckOf are the agents that are there and cannot go on by themselves: at a prompt, blocked, in a circle, or with
// a task that waits for one that has failed.
function stuckOf(overview: Overview, live: readonly Agent[]): number {
  const told = new Set(overview.trouble.filter(({ kind }) => kind === "circle" || kind === "stuck" || kind === "prompt").flatMap((one) => one.agents));
  return live.filter(({ agent_id, activity }) => told.has(agent_id) || activity === "at_prompt" || activity === "stuck" || activity === "blocked").length;
}

// Sum says in one line how it stands. Each of its parts leads to what it counts.
export function Sum({ overview, asks, agents, more }: SumProps) {
  const live = agents.filter((agent) => agent.presence === "live");
  const away = agents.length - live.length;
  const stuck = stuckOf(overview, live);
  const circles = overview.circles.length;
  const parts: [to: string, words: string, bad: boolean][] = [
    ["agents", `${live.length}${more ? " or more" : ""} here${away > 0 ? `, ${away} away` : ""}`, false],
    ["agents", stuck > 0 ? `${stuck} stuck` : "nobody stuck", stuck > 0],
    ["asks", asks.length === 0 ? "no questions" : asks.length === 1 ? "1 question" : `${asks.length} questions`, asks.length > 0],
    ["waits", circles === 0 ? "no circle" : circles === 1 ? "1 circle" : `${circles} circles`, circles > 0],
  ];
  return (
    <p class="sum" role="group" aria-label="How it stands">
      {parts.map(([to, words, bad]) => (
        <button key={words} type="button" data-look class={bad ? "quiet bad" : "quiet"} onClick={() => goTo(to)}>
          {words}
        </button>
      ))}
    </p>
  );
}
