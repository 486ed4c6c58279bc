// Messages reach the model of an unmodified harness while the hub, the bridge and the harness itself are killed. HUB_KILLS says how often each of them is
// killed, and MESSAGES how many messages are posted meanwhile; without them the test does not run. The model is
// scripted. A session whose harness was killed is resumed, and messages are posted to the agent that it then is.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../hub.mjs";
import { agentOf, devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, killBridge, killHarness, reviveBridge, turn } from "./processes.mjs";

const posts = Number(process.env.MESSAGES ?? 0);
const kills = Number(process.env.HUB_KILLS ?? 0);
const every = Math.max(1, Math.floor(posts / (3 * kills)));
const patient = 15_000; // ms, after which a message counts as lost

for (const harness of harnesses.filter(({ stays, again, needs = [] }) => posts && kills && stays && again && needs.every((name) => name in devDependencies))) {
  describe(`kills around ${harness.id}`, () => {
    const script = new Script();
    const seen = new Set(); // numbers of messages that the model has read
    const ids = new Map(); // their ids
    const most = new Map(); // how often each stood in one request
    const may = new Map(); // how often it may come again: so often did a kill come before it counted as read, or as surely given
    let hub, project, room, model, session;
    const open = (more) =>
      harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url), ...more });
    before(async () => {
      ({ hub, project, room } = await settle(harness));
      model = await Model.start(harness.api, (request) => {
        const now = new Map();
        for (const [, i] of request.sent.matchAll(/MAIL (\d+)\./g)) now.set(i, (now.get(i) ?? 0) + 1);
        for (const [i, times] of now) {
          seen.add(i);
          most.set(i, Math.max(times, most.get(i) ?? 0));
        }
        return script.answer(request, harness);
      });
      session = await open();
      script.call();
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    it("kills: each message reaches the model once", { timeout: 60 * 60_000 }, async () => {
      const killed = { hub: 0, bridge: 0, harness: 0 };
      const lost = new Set();
      let agent = await agentOf(harness, hub);
      const started = new Set([agent]);
      // all waits until the model has read every message so far. What a session does not learn by itself it
      // learns with a prompt of its user.
      const all = async (i) => {
        const missing = () => Array.from({ length: i }, (_, k) => `${k + 1}`).filter((k) => !seen.has(k) && !lost.has(k));
        const there = () => eventually("all are shown", () => missing().length === 0, patient / 3).then(() => true, () => false);
        if (harness.wakes !== false && (await there())) return;
        for (let tries = 0; tries < 2 && missing().length > 0; tries++) {
          await turn(session, model, `look ${i}`);
          await there();
        }
        for (const k of missing()) lost.add(k);
      };
      const act = {
        hub: () => hub.restart("SIGKILL"),
        async bridge(i) {
          await killBridge(session);
          await turn(session, model, `look ${i}`);
          await eventually("the session is idle", () => session.idle(), within);
          await reviveBridge(session, model, script);
        },
        async harness() {
          const was = agent;
          await killHarness(session);
          await eventually("the agent is gone", async () => !(await hub.agents()).includes(was));
          await session.close();
          session = await open({ command: [...harness.program, ...(Array.isArray(harness.again) ? harness.again : [])], continues: session.id });
          script.call();
          await session.go("go on");
          agent = await agentOf(harness, hub);
          started.add(agent);
        },
      };
      for (let i = 1, n = 0; i <= posts; i++) {
        ids.set(`${i}`, (await hub.say(`MAIL ${i}.`, { to_agent: agent, channel: undefined })).id);
        if (i % every === 0 && n < 3 * kills) {
          // So that kills come before, while and after it is shown, and every second one after it counts as read.
          await sleep(13 * (i % 23) + (n % 2) * 1500);
          const [what] = Object.keys(act).slice(n++ % 3);
          const { seen_id: read, sure_id: sure } = await hub.get(`/v1/attention?agent_id=${agent}&room_id=${room}`);
          const upTo = harness.names ? read : Math.max(read, sure); // a message that was named is read by a poll
          const pending = [...ids.keys()].filter((k) => ids.get(k) > upTo);
          await act[what](i);
          killed[what]++;
          if (what !== "hub") for (const k of pending) may.set(k, (may.get(k) ?? 0) + 1);
        }
        if (i % 5 === 0 || i === posts) await all(i);
      }
      const never = [...lost].filter((i) => !seen.has(i));
      const more = [...most].filter(([, times]) => times > 1).map(([i]) => i);
      const wrong = more.filter((i) => most.get(i) > 1 + (may.get(i) ?? 0));
      console.log(`${harness.id} ${harness.version}: ${posts} messages, killed: ${JSON.stringify(killed)}, agents: ${started.size}, ` +
        `never shown: ${never.length}, shown twice because a kill came before they counted as read: ${more.length - wrong.length}, shown twice else: ${wrong.length}`);
      assert.deepEqual({ never, wrong }, { never: [], wrong: [] });
    });
  });
}
