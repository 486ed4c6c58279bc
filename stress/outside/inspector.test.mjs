// The MCP Inspector's command line: schemas that every large model accepts, calls,
// load, both eras of the protocol, and what the adapter for any client writes.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Hub, finish, hubcli, program } from "./hub.mjs";

const inspector = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";

describe("inspector", () => {
  let hub;
  before(async () => {
    hub = await Hub.start();
  });
  after(() => hub?.close());

  // inspect lets the inspector start a bridge with these flags.
  function inspect(agent, flags, options) {
    const { command, args } = hub.bridge(agent, ...flags);
    const variables = Object.entries(hub.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const how = { env: { HOME: hub.root, ...hub.env }, cwd: hub.root };
    return program(inspector, ["--cli", ...variables, ...options, "--", command, ...args], how);
  }

  for (const surface of ["--progressive-tools", "--full-tools"]) {
    for (const era of ["legacy", "modern"]) {
      it(`inspector: every schema of ${surface.slice(2)} is portable, ${era}`, { timeout: 60_000 }, async () => {
        const run = await inspect("strict", [surface], ["--method", "tools/list", "--strict", "--protocol-era", era]);
        assert.equal(run.code, 0, run.all);
        // Warnings do not change the exit code; where there is nothing to say, nothing is said.
        assert.doesNotMatch(run.stderr, /\b[1-9]\d* (error|warning)/, run.stderr);
        const { tools } = JSON.parse(run.stdout);
        assert.ok(surface === "--full-tools" ? tools.length > 25 : tools.length === 5, `${tools.length} tools`);
      });
    }
  }

  it("inspector: calls, and tells a refusal from success", { timeout: 60_000 }, async () => {
    const call = (args) =>
      inspect("caller", ["--progressive-tools"], [
        ...["--method", "tools/call", "--tool-name", "hub_post_message"],
        ...["--tool-args-json", JSON.stringify(args)],
      ]);
    const good = await call({ body: "from the inspector", channel: "general" });
    assert.equal(good.code, 0, good.all);
    const { id } = JSON.parse(good.stdout).structuredContent;
    assert.equal((await hub.get(`/v1/messages/${id}`)).body, "from the inspector");
    const refused = await call({ body: "x", channel: "nowhere" });
    assert.equal(refused.code, 5, refused.all);
    assert.match(refused.all, /channel_not_found/);
  });

  for (const era of ["legacy", "modern"]) {
    it(`inspector: the tools over HTTP, ${era}`, { timeout: 60_000 }, async () => {
      const over = (...options) => program(inspector, ["--cli", `${hub.url}/mcp?agent=web`, "--protocol-era", era, ...options], { env: { HOME: hub.root }, cwd: hub.root });
      const list = await over("--method", "tools/list", "--strict");
      assert.equal(list.code, 0, list.all);
      assert.doesNotMatch(list.stderr, /\b[1-9]\d* (error|warning)/, list.stderr);
      assert.ok(JSON.parse(list.stdout).tools.length > 25, list.stdout);
      const args = JSON.stringify({ body: `over HTTP, ${era}`, channel: "general" });
      const good = await over("--method", "tools/call", "--tool-name", "hub_post_message", "--tool-args-json", args);
      assert.equal(good.code, 0, good.all);
      const row = await hub.get(`/v1/messages/${JSON.parse(good.stdout).structuredContent.id}`);
      assert.deepEqual([row.body, row.from_agent], [`over HTTP, ${era}`, "web"]);
      const refused = await over("--method", "tools/call", "--tool-name", "hub_post_message", "--tool-args-json", '{"body":"x","channel":"nowhere"}');
      assert.equal(refused.code, 5, refused.all);
    });
  }

  it("inspector: keeps up with a load of calls", { timeout: 60_000 }, async () => {
    const run = await inspect("loader", ["--full-tools"], [
      ...["--method", "tools/call", "--tool-name", "hub_whoami"],
      ...["--load", "--load-requests", "200", "--load-concurrency", "8"],
    ]);
    assert.equal(run.code, 0, run.all);
    const summary = JSON.parse(run.stdout);
    assert.equal(summary.requests ?? summary.total, 200, run.stdout);
    assert.equal(summary.errors ?? summary.failed, 0, run.stdout);
  });

  it("inspector: starts what the adapter wrote", { timeout: 60_000 }, async () => {
    const dir = join(hub.root, "project");
    await mkdir(dir);
    const install = ["adapter", "install", "generic", "--scope", "project", "--path", dir, "--yes", "--base-url", hub.url];
    const installed = await finish(hubcli, install, { env: hub.env, cwd: dir });
    assert.equal(installed.code, 0, installed.all);
    const options = ["--cli", "--config", join(dir, ".mcp.json"), "--server", "hub", "--method", "tools/list"];
    const run = await program(inspector, options, { env: { HOME: hub.root }, cwd: dir });
    assert.equal(run.code, 0, run.all);
    assert.ok(JSON.parse(run.stdout).tools.length >= 5);
  });
});
