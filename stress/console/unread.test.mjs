// What a page says before it has read everything: it says that nothing is there only of what it
// has read.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address } from "./browser.mjs";
import { Holding } from "./holding.mjs";
import { settled, tabs, things } from "./places.mjs";

describe("a page that waits for the hub", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Checkout", created_by: "lead" });
    await hub.post("/v1/sessions", { agent_id: "dev-a" });
    await hub.post(`/v1/rooms/${room.room_id}/seats`, { agent_id: "dev-a" });
    const at = { room_id: room.room_id };
    const task = await hub.say("Round half up", { channel: room.channel, kind: "task", from_agent: "lead" });
    await hub.post(`/v1/tasks/${task.id}`, { agent_id: "dev-a", status: "working" });
    const ended = await hub.say("Add the cart", { channel: room.channel, kind: "task", from_agent: "lead" });
    for (const status of ["working", "done"]) await hub.post(`/v1/tasks/${ended.id}`, { agent_id: "dev-a", status });
    await hub.say("half of it is done", { channel: room.channel, from_agent: "dev-a", thread_id: "rounding" });
    await hub.post("/v1/decisions", { ...at, title: "Round half up", by: "lead" });
    for (const body of ["one", "two"]) await hub.post("/v1/artifacts", { ...at, title: "plan", kind: "doc", by: "lead", body });
    await hub.post("/v1/memory", { ...at, key: "port", text: "Port 6000", by: "lead" });
    await hub.post("/v1/claims", { owner_agent_id: "dev-a", claim_key: "prices", ttl_sec: 3600 });
    await hub.post("/v1/locks", { agent_id: "dev-a", file_path: "/src/prices.go", ttl_sec: 3600 });
    await hub.post("/v1/asks", { ...at, agent_id: "dev-a", question: "Round half up?", options: ["yes", "no"] });
    await hub.post("/v1/invites", { project: "web-shop", room: "checkout", by: "lead" });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  // denials counts what a page says is not there.
  const denials = (page) =>
    page.evaluate(() => {
      const counts = {};
      const main = document.querySelector("main");
      const says = [...main.querySelectorAll(".empty:not([aria-busy])")].map((one) => one.innerText);
      const words = /^((no|none|nobody|nothing|there is no)\b|(it|this room|the room|this hub|the hub) (has|was|keeps|knows|is) .*\b(no|nothing)\b)/i;
      says.push(...main.innerText.split("\n").filter((line) => words.test(line.trim())));
      // A chart draws what has come since the page was opened.
      for (const one of says.filter((line) => line !== "no figure yet")) counts[one] = (counts[one] ?? 0) + 1;
      return counts;
    });
  const frame = "/v1/asks?state=open&limit=1000"; // what the frame of every page asks for

  it("denies nothing that it has not read, whether the hub is slow or refuses", async () => {
    const { page, wrong, close } = await browser.tab();
    // The page that a tab leaves keeps the moment, sometimes when the next one has begun.
    await page.addInitScript((at) => {
      if (location.protocol !== "http:") return;
      localStorage.setItem("hubcli.looked", JSON.stringify({ id: 0, at }));
      const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (key, value) {
        if (key !== "hubcli.looked") setItem.call(this, key, value);
      };
    }, new Date(Date.now() - 3_600_000).toISOString());
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    const holding = await Holding.of(page);
    const show = async (place, held) => {
      await hub.get("/v1/events?agent_id=dev-a&timeout=0"); // it stays here
      holding.held = held;
      await holding.show(`${hub.url}/ui/${place}`);
      if (!held) await settled(page);
      return denials(page);
    };

    const broken = [];
    let looked = 0;
    for (const place of new Set([...tabs, ...(await things(hub, room)), "agents/dev-a"])) {
      const truth = await show(place, "");
      const paths = [...holding.asked].filter((path) => path !== frame || place === "now");
      assert.ok(paths.length > 0, `${place} asks for nothing`);
      const found = []; // denials, how often, and how they came
      const compare = (says, how) => {
        for (const [said, times] of Object.entries(says)) if (times > (truth[said] ?? 0)) found.push([said, times, `${place} says ${how}: ${said}`]);
      };
      for (const path of paths) {
        compare(await show(place, path), `without ${path}`);
        await holding.refuse();
        compare(await denials(page), `when ${path} is refused`);
        looked++;
      }
      if (found.length === 0) continue;
      const now = await show(place, ""); // it may be true by now
      broken.push(...found.filter(([said, times]) => times > (now[said] ?? 0)).map(([, , words]) => words));
    }
    console.log(`${looked} pages looked at`);
    assert.equal(broken.join("\n"), "");
    assert.deepEqual(wrong.filter((one) => !/status of 503/.test(one)), []);
    await close();
  });
});
