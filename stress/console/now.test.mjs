// Now: what each agent does and holds, who waits for whom, what happened while the person was
// away, and questions answered by keys.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, hubcli } from "../outside/hub.mjs";
import { Browser, address, press, settle } from "./browser.mjs";
import { circle } from "./circle.mjs";

const run = promisify(execFile);

describe("Now", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Check out", created_by: "lead" });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const cli = async (...args) => (await run(hubcli, [...args, "--base-url", hub.url], { env: hub.env })).stdout;

  async function open(prepare) {
    const tab = await browser.tab();
    await prepare?.(tab.page);
    await tab.page.goto(await address(hub));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }
  const agent = (page, id) => page.locator(".agents").getByRole("listitem").filter({ has: page.getByText(id, { exact: true }) });

  it("says what an agent works on, holds and said last", async () => {
    const { page, wrong, close } = await open();
    await hub.post("/v1/sessions", { agent_id: "dev-a" });
    const task = await hub.say("Round half up", { channel: room.channel, kind: "task", from_agent: "lead" });
    await hub.post(`/v1/tasks/${task.id}`, { agent_id: "dev-a", status: "working" });
    await hub.lock("/shop/cart.go", "dev-a");
    await hub.say("half of it is done", { channel: room.channel, from_agent: "dev-a" });
    const row = agent(page, "dev-a");
    for (const words of [`#${task.id} Round half up`, "/shop/cart.go", "half of it is done"]) await row.getByText(words).waitFor();
    await row.getByText("working", { exact: true }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("draws a circle, with words", async () => {
    const { page, wrong, close } = await open();
    await hub.post("/v1/sessions", { agent_id: "dev-b" });
    const end = await circle(hub);
    const drawn = page.getByRole("group", { name: "2 waits between 2 agents, 1 in a circle" });
    await drawn.waitFor();
    // Each of the two stands below the one for which it waits.
    assert.deepEqual(await drawn.locator(".edge .twig .person bdi").allTextContents(), ["dev-a", "dev-b", "dev-a"]);
    assert.deepEqual(await drawn.locator(".edge.bad > .twig .badge").allTextContents(), ["in a circle", "in a circle"]);
    await drawn.getByText("claim parser").waitFor();
    await page.getByRole("group", { name: "How it stands" }).getByRole("button", { name: "1 circle" }).waitFor();
    assert.equal(await page.getByText(/wait for each other/).count(), 0); // it is told once
    await agent(page, "dev-b").getByText("for dev-a (claim parser)").waitFor();
    await end();
    await page.getByText("No agent waits for another.").waitFor();
    assert.equal(await page.locator(".graph").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("answers the question with the focus by a key, and no other", async () => {
    const { page, wrong, close } = await open();
    await cli("ask", "--agent", "dev-a", "--option", "up", "--option", "down", "Which way?");
    await page.locator("[data-ask]").first().waitFor(); // other parts of the page may show it before
    await settle(page);
    await page.keyboard.press("2"); // nothing has the focus
    await page.keyboard.press("q");
    await page.keyboard.press("2");
    await page.getByText("No agent asks you anything.").waitFor();
    const [ask] = (await (await fetch(`${hub.url}/v1/asks?agent_id=dev-a`)).json()).result;
    assert.equal(ask.answer, "down");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("tells by a notification, once, and only when the person looks away and has asked for it", async () => {
    const { page, wrong, close } = await open(async (page) => {
      await page.addInitScript(() => {
        window.told = [];
        window.Notification = class {
          static permission = "default";
          static asked = 0;
          static async requestPermission() {
            this.asked++;
            return (this.permission = "granted");
          }
          constructor(title, options) {
            window.told.push(title + ": " + options.body);
          }
        };
        document.hasFocus = () => !window.away;
      });
    });
    const told = () => page.evaluate(() => window.told);
    assert.equal(await page.evaluate(() => Notification.asked), 0);
    await press(page.getByRole("button", { name: "Notify me of questions" }));
    await page.getByRole("button", { name: "Notifications are on" }).waitFor();
    await cli("ask", "--agent", "dev-b", "First?");
    await page.locator("[data-ask]", { hasText: "First?" }).waitFor(); // other parts of the page may show it before
    assert.deepEqual(await told(), []);
    await page.evaluate(() => (window.away = true));
    await cli("ask", "--agent", "dev-b", "Second \u202e?");
    await page.getByText("Second").first().waitFor();
    await page.waitForFunction(() => window.told.length > 0);
    assert.deepEqual(await told(), ["dev-b asks: Second <U+202E>?"]);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("tells what happened since the person looked", async () => {
    const { page, wrong, close } = await open();
    await page.getByText("half of it is done").first().waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Rooms" }).click(); // looks away
    await page.waitForFunction(() => localStorage.getItem("hubcli.looked") !== null);
    await page.evaluate(() => {
      const mark = JSON.parse(localStorage.getItem("hubcli.looked"));
      dispatchEvent(new StorageEvent("storage", { key: "hubcli.looked", newValue: JSON.stringify({ ...mark, at: new Date(Date.now() - 3600_000).toISOString() }) }));
    });
    await hub.say("news of the cart", { channel: room.channel, from_agent: "lead" });
    await hub.post("/v1/decisions", { room_id: room.room_id, title: "Money is in cents", note: "as integers", by: "lead" });
    await page.getByRole("navigation").getByRole("link", { name: /^Now/ }).click();
    await page.getByRole("heading", { name: /Since you looked, 1 h ago/ }).waitFor();
    const digest = page.locator(".digest");
    await digest.getByText("2 messages").waitFor();
    await digest.getByRole("link", { name: "Money is in cents" }).waitFor();
    await page.keyboard.press("m");
    await digest.waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    await close();
  });
});
