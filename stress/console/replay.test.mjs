// The replay of a room: what the page shows of a moment is what the ordinary reads said then.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, hubcli } from "../outside/hub.mjs";
import { all, violations } from "./axe.mjs";
import { Browser, address, press } from "./browser.mjs";

const run = promisify(execFile);

describe("the replay of a room", () => {
  let hub, browser, room;
  const log = []; // what the room was like after each step

  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Check out", created_by: "lead", force: true, force_reason: "a test" });
    for (const step of steps()) {
      await step();
      log.push(await look());
    }
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const say = (body, fields) => hub.say(body, { channel: room.channel, from_agent: "lead", ...fields });

  // The day of a team: each step changes what one of the lists of the page shows.
  function steps() {
    let task;
    return [
      () => hub.post(`/v1/rooms/${room.room_id}/seats`, { agent_id: "lead", role: "lead" }),
      () => say("who takes the cart?"),
      async () => (task = await say("Round half up", { kind: "task" })),
      () => hub.post(`/v1/rooms/${room.room_id}/seats`, { agent_id: "dev-a" }),
      () => hub.post("/v1/claims", { claim_key: "cart:round", owner_agent_id: "dev-a", ttl_sec: 600 }),
      () => say("\u202e<img src=x onerror=alert(1)> مرحبا", { from_agent: "dev-a" }),
      () => hub.post("/v1/locks", { file_path: "/src/cart.go", agent_id: "dev-a", ttl_sec: 600 }),
      () => hub.post("/v1/decisions", { room_id: room.room_id, title: "Money is in cents", note: "as integers", by: "lead" }),
      () => hub.post("/v1/artifacts", { room_id: room.room_id, title: "plan", kind: "doc", by: "lead", content_type: "text/plain", body: "x" }),
      () => hub.post("/v1/memory", { room_id: room.room_id, key: "rounding", text: "half up", by: "lead" }),
      () => hub.post(`/v1/tasks/${task.id}`, { agent_id: "lead", status: "cancelled" }),
      () => say("good night"),
    ];
  }

  // look is what the ordinary reads say of the room now, in the words of the page.
  async function look() {
    const at = await hub.get(`/v1/rooms/${room.room_id}/at?limit=1`);
    const messages = await hub.get(`/v1/log?room_id=${room.room_id}&tail=true&limit=100`);
    const status = await hub.get(`/v1/rooms/${room.room_id}/status?all=true`);
    const claims = await hub.get(`/v1/claims?room_id=${room.room_id}&active_only=true`);
    const locks = await hub.get(`/v1/locks?room_id=${room.room_id}&active_only=true`);
    const decisions = await hub.get(`/v1/decisions?room_id=${room.room_id}`);
    const memory = await hub.get(`/v1/memory?room_id=${room.room_id}`);
    return {
      seq: at.last_seq,
      ts: at.last_ts,
      messages: messages.map((one) => `${one.id}`),
      Seats: status.seats.map((one) => one.agent_id),
      Tasks: status.open_tasks.map((one) => `#${one.task_id} ${one.title}`),
      Claims: claims.map((one) => one.claim_key),
      "File locks": locks.map((one) => one.file_path),
      Decisions: decisions.map((one) => one.title),
      Memory: memory.map((one) => one.key),
    };
  }

  async function open(rest, options = {}) {
    const tab = await browser.tab(options);
    await tab.page.goto((await address(hub)).replace("/ui/#", `/ui/rooms/${room.room_id}/at${rest}#`));
    await tab.page.getByRole("slider", { name: "Moment" }).waitFor();
    return tab;
  }

  // seen is what the page shows, in the form of the log.
  const seen = (page) => page.evaluate(() => {
    const rows = (title, pick) => {
      const part = [...document.querySelectorAll(".about section")].find((one) => one.querySelector("h2").textContent.trim().replace(/\s*\d*$/, "") === title);
      return part ? [...part.querySelectorAll("li")].map(pick) : [];
    };
    const first = (row) => row.querySelector("bdi").textContent;
    return {
      messages: [...document.querySelectorAll(".timeline [data-id]")].map((row) => row.dataset.id),
      Seats: rows("Seats", first),
      Tasks: rows("Tasks", (row) => `${row.querySelector(".soft").textContent} ${first(row)}`),
      Claims: rows("Claims", first),
      "File locks": rows("File locks", first),
      Decisions: rows("Decisions", first),
      Memory: rows("Memory", first),
    };
  });

  // shows waits until the page shows a moment of the log.
  async function shows(page, at) {
    const { seq, ts, ...want } = at;
    let got;
    for (const end = Date.now() + 10_000; Date.now() < end; ) {
      got = await seen(page);
      if (JSON.stringify(sorted(got)) === JSON.stringify(sorted(want))) return;
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    assert.deepEqual(sorted(got), sorted(want), `the moment after record ${seq}`);
  }
  const sorted = (lists) => Object.fromEntries(Object.entries(lists).map(([name, rows]) => [name, rows.toSorted()]));

  it("shows each moment as the reads said then, by the address of a record and of a time", async () => {
    const { page, wrong, close } = await open("");
    await shows(page, log.at(-1));
    for (const [i, at] of log.entries()) {
      for (const moment of [at.seq, at.ts]) {
        if (moment === at.ts && log[i + 1]?.ts === at.ts) continue; // the time of two steps
        await page.evaluate((to) => {
          history.pushState(null, "", to);
          dispatchEvent(new PopStateEvent("popstate"));
        }, `/ui/rooms/${room.room_id}/at/${moment}`);
        await shows(page, at);
      }
    }
    assert.deepEqual(wrong, []);
    await close();
  });

  it("goes by slider, by message, by a typed time and by a link", async () => {
    const { page, wrong, close } = await open("");
    const slider = page.getByRole("slider", { name: "Moment" });
    await slider.focus();
    await page.keyboard.press("Home");
    await page.getByText("Nothing had been said here.").waitFor();
    await press(page.getByRole("button", { name: "Next message" }));
    await page.locator(".timeline").getByText("who takes the cart?").waitFor();
    assert.equal(await page.locator(".timeline [data-id]").count(), 1);
    await page.keyboard.press("]");
    await page.locator(".timeline").getByText("Round half up").waitFor();
    await page.keyboard.press("[");
    await page.locator(".timeline").getByText("Round half up").waitFor({ state: "detached" });
    await slider.focus();
    await page.keyboard.press("End");
    await page.locator(".timeline").getByText("good night").waitFor();
    const end = new Date(log.at(-1).ts); // the address may still be that of a rest before
    await page.waitForURL((url) => new Date(decodeURIComponent(url.pathname).split("/at/")[1]) >= end);
    await page.reload();
    await page.locator(".timeline").getByText("good night").waitFor(); // the address names the moment

    const when = page.getByRole("textbox", { name: "What happened at" });
    await when.fill("half past two");
    await press(page.getByRole("button", { name: "Show" }));
    await page.getByText("Give a time like 14:05").waitFor();
    await when.fill("2001-02-03 4:05");
    await press(page.getByRole("button", { name: "Show" }));
    await page.getByText("The room begins at").waitFor();
    await page.getByText("Nothing had been said here.").waitFor();
    await press(page.getByRole("button", { name: "Save…" }));
    await page.getByRole("dialog").getByText(`hubcli room replay ${room.room_id}`).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Back to now" }).click();
    const entry = page.getByRole("log").getByRole("listitem").filter({ hasText: "who takes the cart?" });
    await entry.hover();
    await entry.getByRole("link", { name: "Then" }).click();
    await page.locator(".timeline").getByText("who takes the cart?").waitFor();
    assert.equal(await page.locator(".timeline").getByText("good night").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("plays to the end, and says what it skips", async () => {
    const { page, wrong, close } = await open(`/${log[0].ts}`);
    await page.getByRole("combobox", { name: "Speed" }).selectOption("1");
    await press(page.getByRole("button", { name: "Play" }));
    await page.locator(".timeline").getByText("good night").waitFor();
    await page.getByRole("button", { name: "Play" }).waitFor(); // it has stopped
    await shows(page, log.at(-1));
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows the same after the hub was killed", async () => {
    await hub.restart("SIGKILL");
    const { page, wrong, close } = await open(`/${log[6].seq}`);
    await shows(page, log[6]);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("is saved as one file, which shows the same without a hub and without a network", async () => {
    const file = join(hub.root, "checkout.html");
    await run(hubcli, ["room", "replay", room.room_id, "--out", file, "--base-url", hub.url], { env: hub.env });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await assert.rejects(run(hubcli, ["room", "replay", room.room_id, "--out", file, "--base-url", hub.url], { env: hub.env }), /is there already/);
    const { page, wrong, close } = await browser.tab({ offline: true });
    let requests = 0;
    page.on("request", (request) => (requests += request.url().startsWith("file:") ? 0 : 1));
    await page.goto(`file://${file}`);
    await shows(page, log.at(-1));
    for (const [i, at] of log.entries()) {
      const spoken = at.messages.length > (log[i - 1]?.messages.length ?? 0);
      if (!spoken || log[i + 1]?.ts === at.ts) continue; // the file has the moments of messages
      await page.evaluate((ts) => (location.hash = ts), at.ts);
      await shows(page, at);
    }
    await page.getByRole("slider", { name: "Moment" }).focus();
    await page.keyboard.press("Home");
    await page.getByText("Nothing had been said here.").waitFor();
    await press(page.getByRole("button", { name: "Play" }));
    await page.locator(".timeline").getByText("good night").waitFor();
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}: the page is too wide`);
        assert.deepEqual(await violations(page, all), [], `at ${width} pixels, ${colorScheme}`);
        if (process.env.CONSOLE_PICTURES) await page.screenshot({ path: join(process.env.CONSOLE_PICTURES, `saved-replay-${width}-${colorScheme}.png`) });
      }
    }
    assert.equal(requests, 0);
    assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe").length), 0);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("is in the folder of an exported project, by what the times tell", async () => {
    const folder = join(hub.root, "web-shop-export");
    await run(hubcli, ["project", "export", "web-shop", "--out", folder, "--yes", "--base-url", hub.url], { env: hub.env });
    const { page, wrong, close } = await browser.tab({ offline: true });
    await page.goto(`file://${folder}/replays/check-out.html`);
    await page.locator(".timeline").getByText("good night").waitFor();
    const about = page.locator(".about");
    await about.getByText("made of what an export of the project holds").waitFor();
    await about.getByRole("heading", { name: "Ended tasks" }).waitFor();
    await about.getByText("half up", { exact: true }).waitFor();
    await page.getByRole("slider", { name: "Moment" }).focus();
    await page.keyboard.press("Home");
    await page.getByText("Nothing had been said here.").waitFor();
    assert.equal(await about.getByRole("heading", { name: "Decisions" }).count(), 0);
    await page.keyboard.press("]");
    await page.locator(".timeline").getByText("who takes the cart?").waitFor();
    await page.keyboard.press("]");
    await about.getByRole("heading", { name: /^Tasks/ }).waitFor();
    assert.equal(await about.getByText("cancelled").count(), 0); // nobody knows what it was then
    assert.deepEqual(await violations(page, all), []);
    if (process.env.CONSOLE_PICTURES) await page.screenshot({ path: join(process.env.CONSOLE_PICTURES, "exported-replay.png") });
    assert.deepEqual(wrong, []);
    await close();
  });

  for (const width of [320, 1280, 3840]) {
    it(`fits ${width} pixels`, async () => {
      const { page, wrong, close } = await open("", { viewport: { width, height: 800 } });
      await page.locator(".timeline").getByText("good night").waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is too wide");
      assert.deepEqual(wrong, []);
      await close();
    });
  }
});
