// What a person sees is whole: what was sent with a message, words that were not sent yet, how it stands in one
// line, and since when a hub has not answered.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address, end, passes, press, settle } from "./browser.mjs";
import { go } from "./places.mjs";
import { attachments } from "./team.mjs";

describe("what a person sees is whole", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Checkout", created_by: "lead" });
    for (const id of ["lead", "dev-a", "dev-b"]) await hub.post("/v1/sessions", { agent_id: id });
    await hub.say("Hello", { from_agent: "dev-a", channel: room.channel });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  async function open() {
    const tab = await browser.tab({ viewport: { width: 1440, height: 900 } });
    tab.foreign = [];
    tab.page.on("request", (request) => {
      if (!request.url().startsWith(`${hub.url}/`) && !request.url().startsWith("data:image/svg")) tab.foreign.push(request.url());
    });
    await tab.page.goto(await address(hub));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }

  it("shows what was sent with a message where the message is, and loads nothing of it", async () => {
    const { page, wrong, foreign, close } = await open();
    const { id } = await hub.say("Look at my change", { from_agent: "dev-a", channel: room.channel, attachments: [...attachments, { type: "text", content: "long\n".repeat(900) }] });
    await page.getByText("+6 attached").waitFor();
    await page.getByText("diff services/checkout/internal/cart", { exact: false }).first().waitFor();
    const at = new Date(Date.now() + 1_000).toISOString();
    for (const place of [`rooms/${room.room_id}`, `rooms/${room.room_id}/at/${at}`, "agents/dev-a", `knowledge/${id}`]) {
      await go(page, `/ui/${place}`);
      const list = page.getByRole("list", { name: "6 attachments" });
      await list.waitFor();
      for (const words of [/bankers_rounding_test\.go · main…round-half-even · the change/, /README\.md:3–18/, "func Round(cents int64", '"tests": 48', "<img src=http://198.51.100.7/x>"]) {
        await list.getByText(words).first().waitFor();
      }
      assert.equal(await list.getByText("long long", { exact: false }).count(), 0); // it is folded
      await list.locator("summary").last().click();
      await list.getByText(/^long\nlong/).waitFor();
    }
    assert.deepEqual(foreign, []);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("keeps words that were not sent at another page, when it is loaded anew, and when the pass ends", async () => {
    const { page, wrong, close } = await open();
    const { ask_id } = await hub.post("/v1/asks", { agent_id: "dev-b", room_id: room.room_id, question: "What tone?" });
    const answer = page.locator(`[data-ask=${ask_id}] [data-words]`);
    await answer.fill("Plain words, ");
    await go(page, `/ui/rooms/${room.room_id}`);
    const words = page.getByRole("textbox", { name: "Say something in the room as the operator" });
    await page.getByRole("combobox", { name: "To", exact: true }).selectOption("dev-a");
    await words.fill("Stop at noon");
    for (const away of [() => go(page, "/ui/tasks").then(() => go(page, `/ui/rooms/${room.room_id}`)), () => page.reload()]) {
      await away();
      await words.waitFor();
      assert.equal(await words.inputValue(), "Stop at noon");
      assert.equal(await page.getByRole("combobox", { name: "To", exact: true }).inputValue(), "dev-a"); // and for nobody else
    }
    await go(page, "/ui/now");
    assert.equal(await answer.inputValue(), "Plain words, ");

    // A question that was closed while the page was not there still has them.
    await page.goto("about:blank");
    await hub.command("answer", ask_id, "plain");
    await page.goto(`${hub.url}/ui/now`);
    await page.getByText(/answered meanwhile by .*: plain/).waitFor();
    assert.equal(await answer.inputValue(), "Plain words, ");

    for (const one of await passes(hub)) await end(hub, one.pass_id);
    await page.getByRole("heading", { name: "What you had written and not sent" }).waitFor();
    for (const text of ["Stop at noon", "Plain words,"]) await page.getByText(text).waitFor();
    const code = (await address(hub)).split("#")[1];
    await page.evaluate((code) => (location.hash = code), code);
    await page.getByText("connected", { exact: true }).waitFor();
    await go(page, `/ui/rooms/${room.room_id}`);
    assert.equal(await words.inputValue(), "Stop at noon");
    await press(page.getByRole("button", { name: "Say", exact: true }));
    await page.getByText("Stop at noon").waitFor();
    await page.reload();
    await words.waitFor();
    assert.equal(await words.inputValue(), "");
    assert.deepEqual(wrong.filter((one) => !/status of 403/.test(one)), []); // of the pass that has ended
    await close();
  });

  it("begins Now with one line, and asks the oldest question first, with the name of its room and code as code", async () => {
    const { page, wrong, close } = await open();
    await hub.post("/v1/asks", { agent_id: "dev-a", room_id: room.room_id, question: "May I?\n```go\nfunc <b>Round</b>()\n```", options: ["yes"] });
    await hub.post("/v1/asks", { agent_id: "dev-b", question: "And I?", options: ["yes"] });
    const sum = page.getByRole("group", { name: "How it stands" });
    await sum.getByRole("button", { name: "2 questions" }).waitFor();
    assert.deepEqual(await sum.getByRole("button").allTextContents(), ["3 here", "nobody stuck", "2 questions", "no circle"]);
    const asks = page.locator("[data-ask]");
    assert.match(await asks.first().textContent(), /May I\?/);
    assert.match(await asks.last().textContent(), /And I\?/);
    await asks.first().getByRole("link", { name: "Checkout" }).waitFor();
    assert.equal(await asks.first().locator("pre").textContent(), "func <b>Round</b>()");
    // Each thing once: the question is no message besides, and the wait for the person is a number.
    assert.equal(await page.getByText("And I?").count(), 1);
    await page.getByText("2 agents wait for you.").waitFor();
    // The line stands above the questions, these above the agents, and each part leads to what it counts.
    const tops = await page.evaluate(() => [".sum", "#asks", "#agents"].map((one) => document.querySelector(one).getBoundingClientRect().top));
    assert.deepEqual(tops, tops.toSorted((a, b) => a - b));
    await sum.getByRole("button", { name: "3 here" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "agents");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("says within five seconds that a hub hangs, and since when", async () => {
    const { page, wrong, close } = await open();
    await settle(page);
    const before = Date.now();
    hub.process.kill("SIGSTOP");
    try {
      const banner = page.getByRole("alert").filter({ hasText: "The hub has not answered since" });
      await banner.waitFor({ timeout: 30_000 });
      const took = Date.now() - before;
      assert.ok(took < 5_500, `it took ${took} ms`);
      await page.getByText("not connected", { exact: true }).waitFor();
      const clock = (ms) => page.evaluate((ms) => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(new Date(ms)), ms);
      const said = await banner.textContent();
      const seconds = await Promise.all([-3, -2, -1, 0, 1].map((sec) => clock(before + sec * 1000)));
      assert.ok(seconds.some((one) => said.includes(one)), `${said} is not one of ${seconds}`);
    } finally {
      hub.process.kill("SIGCONT");
    }
    await page.getByText("connected", { exact: true }).waitFor({ timeout: 5_000 });
    await hub.say("news", { from_agent: "dev-a", channel: room.channel });
    await page.getByText("news").first().waitFor();
    // A hub that is only quiet is not called hung.
    await new Promise((wake) => setTimeout(wake, 6_000));
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });
});
