// The first hour of a new user: an empty home, the files of a release, a repository, and two unmodified harnesses.
// From there to the first message that wakes the other agent it takes few commands, little time, and no answer that
// the user would have to guess. RELEASE names the folder of the release. The models are scripted.

import assert from "node:assert/strict";
import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Hub, eventually, finish } from "../hub.mjs";
import { count, environment, harnesses, modules, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, tool } from "./processes.mjs";
import { Terminal, inTerminal } from "./sessions.mjs";

// The bounds. A question that says what yes and no do is no riddle, but there may be one of them alone.
const bounds = { seconds: 120, commands: 4, questions: 1 };
const words = "PLEASE RUN THE TESTS.";

const [lead, dev] = ["claude-code", "qwen-code"].map((id) => harnesses.find((one) => one.id === id));

describe("the first hour", { skip: lead && dev ? false : "needs Claude Code and Qwen Code" }, () => {
  const scripts = { lead: new Script(), dev: new Script() };
  const used = []; // the commands of the user, in their order
  const models = {};
  const opened = [];
  let hub, project, env, questions = 0;
  // shell runs a command of the user to its end. What it draws and asks comes in a terminal.
  const shell = async (line, question, answer) => {
    used.push(line);
    const terminal = await Terminal.open({ project, env, command: ["sh", "-c", `${line}; echo "[ended with $?]"`] });
    const ended = () => terminal.drawn.includes("[ended with ");
    try {
      if (question) {
        await eventually(`${line} asks`, () => terminal.drawn.includes(question) || ended(), within / 2);
        assert.ok(terminal.drawn.includes(question), terminal.drawn);
        questions++;
        terminal.type(answer);
      }
      await eventually(`${line} ends`, ended, within / 2);
      assert.match(terminal.drawn, /\[ended with 0\]/, terminal.drawn);
      return terminal.drawn;
    } catch (failed) {
      throw new Error(`${failed.message}\n${terminal.drawn}`);
    } finally {
      await terminal.close();
    }
  };
  // begin opens a harness in a terminal of its own, as the user does by a command.
  const begin = async (line, harness, agent) => {
    used.push(line);
    const given = { hub, project, env: { ...env, ...environment(harness, hub, models[agent].url), PATH: env.PATH, HUB_BASE_URL: hub.url }, command: line.split(" "), within, agent };
    const session = await inTerminal(given, harness.id, harness.terminal.ready);
    opened.push(session);
    return session;
  };
  before(async () => {
    assert.ok(process.env.RELEASE, "RELEASE must name the folder of a release; go run ./internal/check outside-turns sets it");
    hub = await Hub.make(); // an address and an empty home; it does not run
    project = join(hub.root, "shop");
    await mkdir(project);
    await mkdir(join(hub.root, ".tmp")); // no room is made in a folder for temporary files, so that has to be another one
    const path = [join(hub.root, ".local", "bin"), lead.terminal.path, join(modules, ".bin"), dirname(process.execPath), process.env.PATH].join(":");
    env = { ...hub.env, PATH: path, HUB_BASE_URL: hub.url, TMPDIR: join(hub.root, ".tmp") };
    const made = await finish("git", ["init", "-q", project], { env });
    assert.equal(made.code, 0, made.all);
    for (const [name, harness] of [["lead", lead], ["dev", dev]]) models[name] = await Model.start(harness.api, (request) => scripts[name].answer(request));
  });
  after(async () => {
    for (const session of opened) await session.close();
    if (hub) await finish("hubcli", ["stop"], { env: { ...env, PATH: join(hub.root, ".local", "bin") } });
    for (const model of Object.values(models)) await model.close();
    await hub?.close();
  });

  it("first hour: from the archive to the first message that wakes the other agent", { timeout: 4 * within }, async () => {
    const begun = performance.now();
    const steps = [];
    const step = (name) => steps.push(`${name} ${Math.round((performance.now() - begun) / 100) / 10} s`);
    await shell(`sh ${process.env.RELEASE}/install.sh --from ${process.env.RELEASE}`);
    step("installed");
    const said = await shell("hubcli init", "[y/N]", "y\r");
    step("set up");
    assert.match(said, /hubcli run [a-z-]+ --as lead/, "it says what comes next");
    // What each harness asks its own users when it runs first, and where its model is.
    await lead.prepare(hub.root, project);
    await dev.prepare(hub.root, project);
    const [first] = await Promise.all([begin("hubcli run claude --as lead", lead, "lead"), begin("hubcli run qwen --as dev", dev, "dev")]);
    await eventually("both are there", async () => {
      const agents = await hub.agents();
      return agents.includes("lead") && agents.includes("dev");
    }, within);
    step("both there");
    scripts.lead.next = (request) => tool(request, "hub_post_message", { to_agent: "dev", body: words });
    await first.say("Have dev run the tests.");
    const woken = () => models.dev.requests.some((request) => count(request, words) > 0);
    await eventually("the message has woken the other agent", woken, within).catch((failed) => {
      throw new Error([failed.message, ...opened.map((session) => session.drawn().slice(-2000))].join("\n"));
    });
    step("woken");
    const seconds = (performance.now() - begun) / 1000;
    const figures = `the first hour took ${Math.round(seconds)} s, ${used.length} commands and ${questions} question: ${steps.join(", ")}`;
    if (process.env.FIGURES) await appendFile(process.env.FIGURES, `${figures}\n`);
    assert.ok(seconds <= bounds.seconds && used.length <= bounds.commands && questions <= bounds.questions, `${figures}; at most ${JSON.stringify(bounds)}`);
    assert.equal(models.lead.requests.length, 2, "the lead needs no more than a call and its end");
  });
});
