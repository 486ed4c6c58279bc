// A room: its timeline live and long, threads, direct messages, words of the operator, pauses.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub, eventually } from "../outside/hub.mjs";
import { Browser, address, press, token } from "./browser.mjs";

const many = Number(process.env.ROOM_MESSAGES ?? 1_500);

describe("the page of a room", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await make("Check out");
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const make = (name) => hub.post("/v1/rooms", { project: "web-shop", name, created_by: "lead", force: true, force_reason: "a test" });
  const say = (where, body, fields) => hub.say(body, { channel: where.channel, ...fields });

  async function open(where, query = "", options = {}) {
    const tab = await browser.tab(options);
    await tab.page.goto((await address(hub)).replace("/ui/#", `/ui/rooms/${where.room_id}${query}#`));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    await tab.page.getByRole("heading", { level: 1, name: where.name }).waitFor();
    return tab;
  }
  const entry = (page, words) => page.getByRole("log", { name: "Messages of the room" }).getByRole("listitem").filter({ hasText: words });

  it("shows messages, decisions, artifacts, tasks and seats in one order", async () => {
    const { page, wrong, close } = await open(room);
    await say(room, "who takes the cart?", { from_agent: "lead" });
    await hub.post("/v1/decisions", { room_id: room.room_id, title: "Money is in cents", note: "as integers", by: "lead" });
    await hub.post("/v1/artifacts", { room_id: room.room_id, title: "plan", kind: "doc", by: "lead", content_type: "text/plain", body: "x" });
    const task = await say(room, "Round half up", { from_agent: "lead", kind: "task" });
    await hub.post(`/v1/rooms/${room.room_id}/seats`, { agent_id: "dev-a" });
    await hub.post(`/v1/tasks/${task.task_id ?? task.id}`, { agent_id: "lead", status: "cancelled" });
    await page.getByText(`task #${task.id} is cancelled: Round half up`).waitFor();
    await page.getByText(/dev-a\s+took a seat/).waitFor();
    const words = (await page.getByRole("log").getByRole("listitem").allTextContents()).join("\n");
    const order = ["who takes the cart?", "Money is in cents", "plan", `task #${task.id}`, "dev-a took a seat", "is cancelled"].map((one) => words.indexOf(one));
    assert.deepEqual(order.toSorted((a, b) => a - b), order, words);
    assert.ok(!order.includes(-1), words);
    await entry(page, "Money is in cents").getByText("decision", { exact: true }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("speaks to all, to one and into a thread, with the operator's authority", async () => {
    const { page, wrong, close } = await open(room);
    const question = await say(room, "may I rename it?", { from_agent: "dev-a", thread_id: "naming" });
    await page.keyboard.press("c");
    await page.keyboard.type("stop at noon");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("all of you");
    await page.keyboard.press("Enter");
    await entry(page, "stop at noon\nall of you").getByText("you", { exact: true }).waitFor();
    await page.getByRole("combobox", { name: "To", exact: true }).selectOption("dev-a");
    await page.getByRole("textbox", { name: /in the room/ }).fill("only you");
    await press(page.getByRole("button", { name: "Say" }));
    await entry(page, "only you").getByText("direct", { exact: true }).waitFor();
    await press(page.getByRole("button", { name: "naming" }));
    const thread = page.getByRole("complementary", { name: "Thread" });
    await thread.getByText("may I rename it?").waitFor();
    await thread.getByRole("textbox").fill("yes, rename it");
    await thread.getByRole("textbox").press("Enter");
    await thread.getByRole("listitem").filter({ hasText: "yes, rename it" }).waitFor();
    const [said] = (await hub.get("/v1/log?thread_id=naming&tail=true&limit=1"));
    assert.equal(said.authority, "operator");
    assert.equal(said.body, "yes, rename it");
    await page.reload();
    await thread.getByText("may I rename it?").waitFor(); // the address names the thread
    await entry(page, "only you").waitFor(); // also a direct message is there again

    // Reply answers one message, in its thread.
    await thread.getByRole("listitem").filter({ hasText: "may I rename it?" }).hover();
    await press(thread.getByRole("listitem").filter({ hasText: "may I rename it?" }).getByRole("button", { name: "Reply" }));
    await thread.getByText(`answers #${question.id}`).waitFor();
    await thread.getByRole("textbox").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("but not today");
    await page.keyboard.press("Enter");
    await thread.getByText("but not today").waitFor();
    assert.equal((await hub.get("/v1/log?thread_id=naming&tail=true&limit=1"))[0].reply_to, question.id);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("pauses with the person's words, and resumes", async () => {
    const { page, wrong, close } = await open(room);
    await press(page.getByRole("button", { name: "Pause the room" }));
    const dialog = page.getByRole("dialog", { name: "Pause the room" });
    await dialog.getByRole("textbox").fill("wait for the release");
    await press(dialog.getByRole("button", { name: "Pause the room" }));
    await page.locator(".paused").getByText("wait for the release").waitFor();
    await assert.rejects(say(room, "one more", { from_agent: "dev-a" }), /wait for the release/);
    await press(page.getByRole("button", { name: "Resume" }));
    await page.getByText("The room is paused").waitFor({ state: "detached" });
    await say(room, "on we go", { from_agent: "dev-a" });
    await entry(page, "on we go").waitFor();
    const guard = page.getByRole("combobox", { name: "Refuse agents that talk without progress" });
    await guard.selectOption("6"); // it shows the choice before the hub has it
    await eventually("the hub has the limit", async () => (await hub.get(`/v1/rooms/${room.room_id}`)).guard_hops === 6);
    await page.reload();
    await eventually("the page shows it", async () => (await guard.inputValue()) === "6");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("folds what is long, and shows hostile texts as texts", async () => {
    const { page, wrong, close } = await open(room);
    await say(room, "x".repeat(10_240), { from_agent: "dev-a" });
    await say(room, "مرحبا \u202e<script>document.title='owned'</script> 👩\u200d🚀", { from_agent: "dev-b" });
    await entry(page, "<script>").waitFor();
    assert.ok((await entry(page, "xxxx").innerText()).length < 2_000);
    await press(entry(page, "xxxx").getByRole("button", { name: "Show all, 10 kB" }));
    assert.ok((await entry(page, "xxxx").innerText()).length > 10_000);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector(".timeline").scrollWidth <= document.querySelector(".timeline").clientWidth));
    assert.notEqual(await page.title(), "owned");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows a post within 100 ms", async () => {
    const quick = await make("Quick");
    const { page, wrong, close } = await open(quick);
    const times = await page.evaluate(async ({ channel, token }) => {
      const took = [];
      for (let i = 0; i < 200; i++) {
        const words = `quick ${i} ${Math.random()}`;
        const seen = new Promise((done) => {
          const observer = new MutationObserver(() => {
            if (!document.querySelector(".timeline").textContent.includes(words)) return;
            observer.disconnect();
            requestAnimationFrame(() => done(performance.now()));
          });
          observer.observe(document.querySelector(".timeline"), { subtree: true, childList: true, characterData: true });
        });
        const began = performance.now();
        const headers = { "Content-Type": "application/json", "X-Hub-Operator": token };
        await fetch("/v1/messages", { method: "POST", headers, body: JSON.stringify({ from_agent: "operator", channel, body: words }) });
        took.push((await seen) - began);
      }
      return took.sort((a, b) => a - b);
    }, { channel: quick.channel, token: await token(hub) });
    const [half, most] = [times[100], times[198]].map((ms) => Math.round(ms));
    console.log(`from a post to its pixels: half within ${half} ms, 99 of 100 within ${most} ms`);
    assert.ok(half <= 100, `half within ${half} ms`); // on a machine that does nothing else it is 99 of 100
    assert.deepEqual(wrong, []);
    await close();
  });

  it(`scrolls through ${many} messages with few nodes and no long frame`, async () => {
    const long = await make("Long");
    const { page, wrong, close } = await open(long);
    await page.evaluate(() => {
      window.counted = { draws: 0, frames: 0 };
      new MutationObserver(() => window.counted.draws++).observe(document.querySelector(".timeline"), { subtree: true, childList: true });
      const frame = () => requestAnimationFrame(() => (window.counted.frames++, frame()));
      frame();
    });
    const posts = [];
    for (let i = 1; i <= many; i++) {
      posts.push(say(long, `message ${i} ${"words ".repeat(i % 40)}`, { from_agent: `agent-${i % 50}` }));
      if (posts.length === 64) await Promise.all(posts.splice(0));
    }
    await Promise.all(posts);
    await entry(page, new RegExp(`message ${many}\\b`)).waitFor();
    const { draws, frames } = await page.evaluate(() => window.counted);
    assert.ok(draws < 3 * frames + 50, `drawn ${draws} times in ${frames} frames`); // else it falls behind
    const seen = await page.evaluate(async () => {
      const box = document.querySelector(".timeline");
      const frame = () => new Promise(requestAnimationFrame);
      const frames = [];
      let nodes = 0;
      let last = await frame();
      const ids = new Set();
      // As fast as a finger turns a wheel: 120 pixels each frame, upwards, and then down again.
      for (const [by, most] of [[-120, 1500], [120, 1500]]) {
        for (let i = 0; i < most; i++) {
          box.scrollTop += by;
          const at = await frame();
          frames.push(at - last);
          last = at;
          if (i % 50 === 0) {
            nodes = Math.max(nodes, document.querySelectorAll("*").length);
            for (const row of box.querySelectorAll("[data-id]")) ids.add(Number(row.dataset.id));
          }
        }
      }
      frames.sort((a, b) => a - b);
      return { nodes, ids: ids.size, half: frames[frames.length >> 1], most: frames[Math.floor(frames.length * 0.99)], longest: frames.at(-1) };
    });
    console.log(`frames: half within ${seen.half.toFixed(1)} ms, 99 of 100 within ${seen.most.toFixed(1)} ms, the longest ${seen.longest.toFixed(1)} ms; ${seen.nodes} nodes, ${seen.ids} messages seen`);
    assert.ok(seen.nodes < 4_000, `${seen.nodes} nodes`);
    assert.ok(seen.ids > 1_000, `${seen.ids} messages seen`);
    assert.ok(seen.half < 17.5, `half of the frames take ${seen.half} ms`);
    await page.keyboard.press("e");
    await entry(page, new RegExp(`message ${many}\\b`)).waitFor();

    // An address leads to any message, and what comes meanwhile does not move the page.
    const middle = (await hub.get(`/v1/log?room_id=${long.room_id}&limit=1000`))[700];
    await page.goto(`${hub.url}/ui/rooms/${long.room_id}?at=${middle.id}`);
    const found = page.locator(`[data-id="${middle.id}"]`);
    await found.waitFor();
    await page.waitForFunction((id) => {
      const row = document.querySelector(`[data-id="${id}"]`).getBoundingClientRect();
      return row.top > 0 && row.bottom < innerHeight;
    }, middle.id);
    const top = (await found.boundingBox()).y;
    await say(long, "something new");
    await page.getByRole("button", { name: "1 new ↓" }).waitFor();
    assert.equal((await found.boundingBox()).y, top);
    await press(page.getByRole("button", { name: "1 new ↓" }));
    await entry(page, "something new").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("is in place again after a restart of the hub, with what was said since", async () => {
    const { page, close } = await open(room);
    await entry(page, "on we go").waitFor();
    await hub.end("SIGKILL");
    await page.getByText("not connected", { exact: true }).waitFor({ timeout: 30_000 });
    await hub.run();
    await say(room, "after the restart", { from_agent: "dev-a" });
    await entry(page, "after the restart").waitFor({ timeout: 30_000 });
    assert.equal(await entry(page, "after the restart").count(), 1);
    await close();
  });
});
