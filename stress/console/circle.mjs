// Two agents that wait for each other. A call that would close a circle is refused, so one is closed
// as such circles are: by a claim that is freed and goes to the first in line.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { eventually, hubcli } from "../outside/hub.mjs";

const run = promisify(execFile);

// circle lets dev-a, which has the claim parser, and dev-b, which has lexer, wait for each other. It
// returns a function that ends their waits.
export async function circle(hub) {
  const cli = (args, options) => run(hubcli, ["claim", ...args, "--base-url", hub.url], { env: hub.env, ...options });
  const stop = new AbortController();
  const waits = [];
  const line = async (claim) => (await hub.get("/v1/claims?active_only=true")).find((one) => one.claim_key === claim)?.waiters?.map((one) => one.agent_id);
  const wait = async (claim, agent) => {
    waits.push(cli([claim, "--agent", agent, "--wait", "60"], { signal: stop.signal }).catch(() => {}));
    await eventually(`${agent} waits for ${claim}`, async () => (await line(claim))?.includes(agent));
  };
  await cli(["parser", "--agent", "dev-a"]);
  await cli(["lexer", "--agent", "dev-c"]);
  await wait("lexer", "dev-b");
  await wait("parser", "dev-b");
  await wait("lexer", "dev-a");
  await cli(["lexer", "--agent", "dev-c", "--release"]);
  return async () => {
    stop.abort();
    await Promise.all(waits);
  };
}
