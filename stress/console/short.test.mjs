// Pages of messages that are shorter than was asked for: the console reads on until the hub has
// proved that there is nothing more.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub, eventually } from "../outside/hub.mjs";
import { Browser, address, token } from "./browser.mjs";

const begins = "This is where it begins.";

describe("short pages in the console", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const make = (name) => hub.post("/v1/rooms", { project: "web-shop", name, created_by: "lead", force: true, force_reason: "a test" });

  // say posts many messages, one after the other, and returns their ids.
  async function say(count, body, fields) {
    const ids = [];
    for (let i = 0; i < count; i++) ids.push((await hub.say(`${i} ${body}`, fields)).id);
    return ids;
  }

  // open opens a page. With most the hub is asked for no more rows of messages than that: this is
  // how it answers when it has little memory for answers.
  async function open(path, most = 0) {
    const tab = await browser.tab({ viewport: { width: 1280, height: 900 } });
    if (most > 0) {
      const secret = await token(hub); // the page has signed another limit
      await tab.page.route(/\/v1\/(log|rooms\/[^/]+\/at)\?/, (route) => {
        const url = new URL(route.request().url());
        url.searchParams.set("limit", `${Math.min(most, Number(url.searchParams.get("limit")))}`);
        return route.continue({ url: url.href, headers: { ...route.request().headers(), "x-hub-operator": secret } });
      });
    }
    await tab.page.goto((await address(hub)).replace("/ui/#", `${path}#`));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }

  // walk turns the wheel to one end of a timeline and returns the ids that it has seen.
  const walk = (page, label, by, until) =>
    page.evaluate(
      async ([label, by, until]) => {
        const box = document.querySelector(`.timeline[aria-label="${label}"]`);
        const seen = new Set();
        for (const end = performance.now() + 20_000; performance.now() < end; ) {
          box.scrollTop += by;
          await new Promise(requestAnimationFrame);
          for (const row of box.querySelectorAll("[data-id]")) seen.add(Number(row.dataset.id));
          const rest = box.scrollHeight - box.scrollTop - box.clientHeight;
          if (by > 0 ? seen.has(until) && rest < 10 : box.querySelector(".beginning")) break;
        }
        return [...seen].sort((a, b) => a - b);
      },
      [label, by, until],
    );

  it("leads to the first message of a room whose messages are long, and back to the latest", async () => {
    const room = await make("Long words");
    const ids = await say(170, "x".repeat(30_000), { from_agent: "dev-a", channel: room.channel });
    const page1 = await hub.get(`/v1/log?room_id=${room.room_id}&tail=true&limit=200`);
    assert.ok(page1.length < ids.length, `the hub answers ${page1.length} rows at once`);
    const { page, wrong, close } = await open(`/ui/rooms/${room.room_id}`);
    await page.locator(`[data-id="${ids.at(-1)}"]`).waitFor();
    assert.equal(await page.getByText(begins).count(), 0);
    assert.deepEqual(await walk(page, "Messages of the room", -400, ids[0]), ids);
    await page.getByText(begins).waitFor();
    assert.deepEqual((await walk(page, "Messages of the room", 400, ids.at(-1))).at(-1), ids.at(-1));

    // An address leads to the first one, and from there to the latest.
    await page.goto(`${hub.url}/ui/rooms/${room.room_id}?at=${ids[0]}`);
    await page.locator(`[data-id="${ids[0]}"]`).waitFor();
    assert.deepEqual(await walk(page, "Messages of the room", 400, ids.at(-1)), ids);
    await page.getByRole("button", { name: "Latest ↓" }).waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    await close();
  });

  it("leads to the first message of a thread whose messages are long", async () => {
    const room = await make("Long thread");
    const ids = await say(120, "y".repeat(30_000), { from_agent: "dev-a", channel: room.channel, thread_id: "long" });
    const { page, wrong, close } = await open(`/ui/rooms/${room.room_id}?thread=long`);
    const thread = page.getByRole("complementary", { name: "Thread" });
    await thread.locator(`[data-id="${ids.at(-1)}"]`).waitFor();
    assert.equal(await thread.getByText(begins).count(), 0);
    assert.deepEqual(await walk(page, "Messages of the thread", -400, ids[0]), ids);
    await thread.getByText(begins).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("fills the page of a room from pages that are too short to scroll, and stays live", async () => {
    const room = await make("Short pages");
    const ids = await say(90, "z", { from_agent: "dev-a", channel: room.channel });
    const { page, wrong, close } = await open(`/ui/rooms/${room.room_id}`, 2);
    await page.locator(`[data-id="${ids.at(-1)}"]`).waitFor();
    await eventually("the page can be scrolled", () => page.evaluate(() => document.querySelector(".timeline").scrollHeight > 2 * innerHeight));
    assert.deepEqual(await walk(page, "Messages of the room", -200, ids[0]), ids);
    await page.keyboard.press("e");
    await page.locator(`[data-id="${ids.at(-1)}"]`).waitFor();
    await hub.say("and one more", { from_agent: "dev-b", channel: room.channel });
    await page.getByRole("log").getByText("and one more").waitFor();

    await page.goto(`${hub.url}/ui/rooms/${room.room_id}?at=${ids[45]}`);
    await page.locator(`[data-id="${ids[45]}"]`).waitFor();
    await page.locator(`[data-id="${ids[30]}"]`).waitFor();
    await page.locator(`[data-id="${ids[60]}"]`).waitFor();
    const down = await walk(page, "Messages of the room", 200, ids.at(-1));
    assert.deepEqual(down.slice(down.indexOf(ids[45])), ids.slice(45).concat(ids.at(-1) + 1));
    assert.deepEqual(wrong, []);
    await close();
  });

  it("goes on after a page that the hub has refused", async () => {
    const room = await make("Refused");
    const ids = await say(8, "w", { from_agent: "dev-a", channel: room.channel });
    const { page, close } = await open(`/ui/now`, 3);
    let refused = 0;
    await page.route(/before_id=/, (route) => {
      if (++refused > 2) return route.fallback();
      return route.fulfill({ status: 503, json: { ok: false, code: "overloaded", status: 503, error: "the hub has too much to do" } });
    });
    await page.goto(`${hub.url}/ui/rooms/${room.room_id}`);
    await page.locator(`[data-id="${ids[0]}"]`).waitFor();
    await page.getByText(begins).waitFor();
    assert.ok(refused > 2, `${refused} reads`);
    await close();
  });

  it("says of an empty room that nothing was said", async () => {
    const room = await make("Empty");
    const { page, wrong, close } = await open(`/ui/rooms/${room.room_id}`, 1);
    await page.getByText("Nothing was said here yet.").waitFor();
    await hub.say("the first word", { from_agent: "dev-a", channel: room.channel });
    await page.getByRole("log").getByText("the first word").waitFor();
    await page.getByText(begins).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows the whole history of an agent", async () => {
    await hub.post("/v1/sessions", { agent_id: "talker", display_name: "talker", capabilities: [] });
    await say(23, "of many", { from_agent: "talker" });
    const { page, wrong, close } = await open("/ui/agents/talker", 4);
    const entries = page.getByRole("list", { name: "History" }).getByRole("listitem");
    await entries.first().waitFor();
    const older = page.getByRole("button", { name: "Older messages" });
    await eventually("all of them", async () => {
      if (await older.isVisible()) await older.click({ timeout: 1_000 }).catch(() => {});
      return (await entries.count()) === 23;
    });
    await page.getByText("0 of many", { exact: true }).waitFor();
    await older.waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    await close();
  });

  // looks answers reads of the log as a hub with many messages does, of which one alone is wanted:
  // one call looks at 20,000 messages, and may answer with nothing although the one is there.
  async function looks(page, asked, wanted, head) {
    await page.route((url) => url.pathname === "/v1/log" && url.search.includes(asked), (route) => {
      const query = new URL(route.request().url()).searchParams;
      const number = (name, absent) => Number(query.get(name) ?? absent);
      const upto = number("before_id", head + 1) - 1;
      const tail = query.get("tail") === "true";
      const from = tail ? Math.max(0, upto - 20_000) : number("since_id", 0);
      const to = tail ? upto : Math.min(upto, from + 20_000);
      const result = from < wanted.id && wanted.id <= to ? [wanted] : [];
      return route.fulfill({ json: { ok: true, result, next_since_id: tail || result.length === 0 ? to : wanted.id } });
    });
  }

  it("looks further back where one call has found nothing", async () => {
    const room = await make("Rarely");
    await hub.post("/v1/sessions", { agent_id: "rare", display_name: "rare", capabilities: [] });
    const wanted = { ...(await hub.say("long ago", { from_agent: "rare", channel: room.channel })), id: 25_000 };
    const { page, wrong, close } = await open("/ui/now");
    await looks(page, "agent=rare", wanted, 60_000);
    await looks(page, `room_id=${room.room_id}`, wanted, 60_000);
    await page.goto(`${hub.url}/ui/agents/rare`);
    const older = page.getByRole("button", { name: "Older messages" });
    await page.getByText("There is nothing of it among the latest messages.").waitFor();
    await older.click();
    await page.getByRole("list", { name: "History" }).getByText("long ago").waitFor();
    await older.click();
    await older.waitFor({ state: "detached" });
    await page.goto(`${hub.url}/ui/rooms/${room.room_id}`);
    await page.getByRole("log").getByText("long ago").waitFor();
    await page.getByText(begins).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("leads from a moment to the messages that it does not show", async () => {
    const room = await make("Moments");
    const ids = await say(12, "then", { from_agent: "dev-a", channel: room.channel });
    const { page, wrong, close } = await open(`/ui/rooms/${room.room_id}/at`, 5);
    await page.getByText("These are the last 5 messages before the moment.").waitFor();
    await page.getByRole("link", { name: "Those before" }).click();
    await page.locator(`[data-id="${ids[7]}"]`).waitFor();
    await page.locator(`[data-id="${ids[0]}"]`).waitFor();
    await close();
    assert.deepEqual(wrong, []);

    const whole = await browser.tab();
    const asked = whole.page.waitForResponse((one) => one.url().includes(`before_id=${ids[0]}`)).then((one) => one.finished());
    await whole.page.goto((await address(hub)).replace("/ui/#", `/ui/rooms/${room.room_id}/at#`));
    await whole.page.locator(`[data-id="${ids[0]}"]`).waitFor();
    await asked;
    assert.equal(await whole.page.getByRole("link", { name: "Those before" }).count(), 0);
    await whole.close();
  });

  it("says so when the history of a task was not read whole", async () => {
    const room = await make("Tasks");
    const said = { from_agent: "lead", channel: room.channel };
    const { id } = await hub.say("Round half up", { ...said, kind: "task" });
    await say(12, "something else", said);
    const short = await open(`/ui/tasks/${id}`, 4);
    await short.page.getByText("Only the first 4 and the latest 4 messages were looked through.").waitFor();
    assert.deepEqual(short.wrong, []);
    await short.close();
    const whole = await open(`/ui/tasks/${id}`);
    await whole.page.getByText("Nothing was said about it.").waitFor();
    assert.equal(await whole.page.getByText("were looked through").count(), 0);
    await whole.close();
  });

  it("does not say that it has counted all messages when it has not", async () => {
    const { page, wrong, close } = await open("/ui/now", 3);
    await page.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Rooms" }).click(); // looks away
    await page.evaluate(() => {
      const at = new Date(Date.now() - 3600_000).toISOString();
      dispatchEvent(new StorageEvent("storage", { key: "hubcli.looked", newValue: JSON.stringify({ id: 1, at }) }));
    });
    await page.getByRole("navigation").getByRole("link", { name: /^Now/ }).click();
    await page.locator(".digest").getByText("at least 3 messages").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });
});
