// What a page says before it has read everything: it says that nothing is there only of what it
// has read.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address } from "./browser.mjs";
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

  // denials are the lines of a page that say that something is not there.
  const denials = async (page) => {
    const lines = (await page.locator("main").innerText()).split("\n");
    return lines.filter((line) => /^(no|nobody|nothing|there is no|(it|this room|the room) (has|keeps) (no|nothing))\b/i.test(line.trim()));
  };
  const frame = "/v1/asks?state=open&limit=1000"; // what the frame of every page asks for
  const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

  it("denies nothing that it has not read", async () => {
    const { page, wrong, close } = await browser.tab();
    await page.addInitScript((at) => {
      if (location.protocol === "http:") localStorage.setItem("hubcli.looked", JSON.stringify({ id: 0, at }));
    }, new Date(Date.now() - 3_600_000).toISOString());
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    let held = ""; // the path whose answers do not come
    const waiting = []; // what the page asked of it
    let asked = new Set();
    let open = 0;
    await page.route((url) => url.pathname.startsWith("/v1/") && url.pathname !== "/v1/app/stream", async (route) => {
      const { pathname, search } = new URL(route.request().url());
      asked.add(pathname + search);
      if (pathname + search === held) return void waiting.push(route);
      open++;
      try {
        await route.fulfill({ response: await route.fetch() });
      } catch {
        // the page is gone
      }
      open--;
    });
    // show waits until the page has read and drawn all but what is held.
    const show = async (place) => {
      const end = Date.now() + 30_000;
      await page.goto("about:blank"); // the page before asks nothing more
      for (const route of waiting.splice(0)) await route.abort().catch(() => {});
      asked = new Set();
      await page.goto(`${hub.url}/ui/${place}`);
      await page.locator("main h1").first().waitFor();
      for (let quiet = 0; quiet < 2; quiet++) {
        while (open > 0 || (held && waiting.length === 0)) {
          assert.ok(Date.now() < end, `${place} still reads, or does not ask for ${held}`);
          await page.waitForTimeout(5);
          quiet = 0;
        }
        await frames(page);
      }
    };

    const broken = [];
    let looked = 0;
    for (const place of [...tabs, ...(await things(hub, room)), "agents/dev-a"]) {
      await show(place);
      await settled(page);
      const truth = new Set(await denials(page));
      for (held of asked) {
        if (held === frame && place !== "now") continue;
        await show(place);
        for (const line of await denials(page)) if (!truth.has(line)) broken.push(`${place} says without ${held}: ${line}`);
        looked++;
      }
      held = "";
    }
    console.log(`${looked} pages looked at`);
    assert.equal(broken.join("\n"), "");
    assert.ok(looked > 50, `${looked} pages`);
    assert.deepEqual(wrong, []);
    await close();
  });
});
