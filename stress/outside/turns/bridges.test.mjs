// The bridge of an unmodified harness is killed, while its session is idle and within a turn.
// Each message reaches the model once all the same. The model is scripted.

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { eventually } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { agentOf, count, devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, killBridge, named, reviveBridge, turn } from "./processes.mjs";
import { spoil } from "./spoil.mjs";

const row = "bridge killed";
const messages = 6;

for (const harness of harnesses.filter(({ stays, needs = [] }) => stays && needs.every((name) => name in devDependencies))) {
  describe(`the bridge of ${harness.id}`, () => {
    const script = new Script();
    let hub, project, room, model, session;
    before(async () => {
      ({ hub, project, room } = await settle(harness));
      await spoil(harness, hub.root);
      model = await Model.start(harness.api, (request) => script.answer(request));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url) });
      script.call();
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "bridge: no message is lost or shown twice when the bridge is killed", [row], { timeout: 2 * within }, async (note) => {
      const agent = await agentOf(harness, hub);
      const last = () => model.requests.at(-1);
      const ids = [];
      // Without a bridge the model can read no message that is only named to it.
      const shown = (i) => count(last(), harness.names ? `#${ids[i]} from ` : `MAIL ${i}.`) > 0;
      const send = async (i) => {
        ids[i] = (await hub.say(`MAIL ${i}.`, { to_agent: agent, channel: undefined })).id;
      };
      // learned waits until the model reads a message of an idle session. What the session
      // does not learn by itself it learns with the next prompt.
      const learned = async (i, wakes) => {
        if (!wakes) await turn(session, model, `look ${i}`);
        await eventually(`message ${i} is shown`, async () => shown(i));
        await eventually("the session is idle again", () => session.idle());
        // What a tool has shown counts as read a second later. If the bridge dies before, it comes again.
        const read = harness.names && count(last(), `MAIL ${i}.`) > 0;
        if (read) await eventually("it counts as read", async () => (await hub.get(`/v1/attention?agent_id=${agent}&room_id=${room}`)).seen_id >= ids[i]);
      };

      await killBridge(session);
      await send(1);
      await learned(1, harness.alone);
      note(row, harness.alone ? "an idle session is woken without it" : "an idle session learns of mail with its next prompt");

      await reviveBridge(session, model, script);
      note(row, session.reconnect ? "its user starts it anew" : "it starts anew by itself");
      await send(2);
      await learned(2, harness.wakes !== false);

      // The bridge dies while the model thinks, and the model calls a tool of it.
      script.first = async () => {
        await killBridge(session);
        await send(3);
        script.call();
      };
      await turn(session, model, "work");
      await eventually("message 3 is shown", async () => shown(3));
      note(row, "in a turn mail comes as before");

      await eventually("the session is idle again", () => session.idle());
      await send(4);
      await learned(4, harness.alone);
      await reviveBridge(session, model, script);
      await send(5);
      await learned(5, harness.wakes !== false);
      await turn(session, model, "the last");
      await send(6);
      await learned(6, harness.wakes !== false);

      assert.equal(await agentOf(harness, hub), agent);
      if (named(last()).length > 0) {
        script.call();
        await turn(session, model, "read what is left");
      }
      const times = Array(messages).fill(1);
      // What a hook has shown within a turn is told and not read: a poll for what is only named shows it, too.
      if (harness.names === "mixed") times[2] = 2;
      assert.deepEqual(Array.from({ length: messages }, (_, i) => count(last(), `MAIL ${i + 1}.`)), times);
      note(row, "each message once");
    });
  });
}
