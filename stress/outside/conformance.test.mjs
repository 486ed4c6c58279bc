// The official conformance suite, which speaks HTTP: to the hub's own /mcp, and through
// mcp-proxy, which starts a bridge for each of its sessions. Two versions of it: the released one,
// and the coming one for the newest revision of the protocol. conformance.yml
// holds what a bridge does not pass, and why, and conformance_http.yml the same of /mcp.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { Hub, eventually, here, program } from "./hub.mjs";

const released = "@modelcontextprotocol/conformance/dist/index.js";
const coming = "conformance-next/dist/index.js";

// basic must pass, whatever the baseline says.
const basic = ["server-initialize", "ping", "tools-list"];

// sessionful are the scenarios that want a session in a revision which leaves sessions to the
// server. /mcp has none.
const sessionful = { "2025-11-25": ["server-sse-multiple-streams"] };

const suites = [
  { which: "released", suite: released, version: "2025-06-18", must: basic },
  { which: "released", suite: released, version: "2025-11-25", must: basic },
  { which: "coming", suite: coming, version: "2025-11-25", must: basic },
  { which: "coming", suite: coming, version: "2026-07-28", must: ["tools-list"] },
];

describe("conformance", () => {
  let hub, proxy, url;
  before(async () => {
    hub = await Hub.start();
    const port = await hub.freePort();
    url = `http://127.0.0.1:${port}/mcp`;
    const { command, args } = hub.bridge("conformance", "--full-tools");
    const script = join(here, "node_modules", "mcp-proxy/dist/bin/mcp-proxy.mjs");
    const flags = ["--host", "127.0.0.1", "--port", `${port}`, "--server", "stream", "--", command, ...args];
    proxy = spawn(process.execPath, [script, ...flags], { env: hub.env, cwd: hub.root, stdio: "ignore" });
    await eventually("the proxy listens", () => fetch(url).then(() => true, () => false));
  });
  after(async () => {
    if (proxy && proxy.exitCode === null) {
      const ended = once(proxy, "exit");
      proxy.kill("SIGTERM");
      await ended;
    }
    await hub?.close();
  });

  for (const { which, suite, version, must } of suites) {
    const ways = [["through a bridge", () => url, "conformance.yml", []], ["over HTTP", () => `${hub.url}/mcp?agent=conformance`, "conformance_http.yml", sessionful[version] ?? []]];
    for (const [way, address, file, more] of ways) {
      it(`conformance, ${which}: ${version}, ${way}`, { timeout: 120_000 }, async () => {
        const expected = join(hub.root, file);
        await writeFile(expected, [(await readFile(join(here, file), "utf8")).trimEnd(), ...more.map((name) => `  - ${name}`), ""].join("\n"));
        const options = ["server", "--url", address(), "--spec-version", version];
        options.push("--expected-failures", expected);
        const run = await program(suite, options, { env: { HOME: hub.root }, cwd: hub.root });
        assert.equal(run.code, 0, run.all.slice(run.all.indexOf("=== SUMMARY ===")));
        for (const name of must) assert.match(run.all, new RegExp(`✓ ${name}: [1-9]\\d* passed, 0 failed`), run.all);
      });
    }
  }
});
