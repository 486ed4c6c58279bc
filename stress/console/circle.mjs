// Two agents that wait for each other. A call that would close a circle of calls is answered at once,
// so one of the two waits is that of a task for another one.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { eventually, hubcli } from "../outside/hub.mjs";

const run = promisify(execFile);

// circle lets dev-b wait for the claim parser, which dev-a has, and a task of dev-a wait for one of
// dev-b. It returns a function that ends both waits.
export async function circle(hub) {
  const cli = (args, options) => run(hubcli, ["claim", ...args, "--base-url", hub.url], { env: hub.env, ...options });
  const task = async (title, agent, more) => {
    const { id } = await hub.say(title, { kind: "task", from_agent: "lead" });
    await hub.post(`/v1/tasks/${id}`, { agent_id: agent, status: "working" });
    if (more) await hub.post(`/v1/tasks/${id}`, { agent_id: agent, ...more });
    return id;
  };
  const tokens = await task("List the tokens", "dev-b");
  const grammar = await task("Write the grammar", "dev-a", { blocked_by: [tokens] });
  await cli(["parser", "--agent", "dev-a"]);
  const stop = new AbortController();
  const wait = cli(["parser", "--agent", "dev-b", "--wait", "60"], { signal: stop.signal }).catch(() => {});
  await eventually("dev-b waits for parser", async () => {
    const claims = await hub.get("/v1/claims?active_only=true");
    return claims.find((one) => one.claim_key === "parser")?.waiters?.some((one) => one.agent_id === "dev-b");
  });
  return async () => {
    stop.abort();
    await wait;
    for (const [id, agent] of [[tokens, "dev-b"], [grammar, "dev-a"]]) await hub.post(`/v1/tasks/${id}`, { agent_id: agent, status: "completed" });
  };
}
