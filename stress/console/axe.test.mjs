// What axe-core knows of how a page is read out, seen and used with the keyboard alone: no
// page of the console, and no state of one, breaks any of its rules.
//
// CONSOLE_PICTURES names the folder of the pictures that are taken of each page on the way;
// go run ./internal/check browser sets it to one in .cache.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Hub, eventually, hubcli } from "../outside/hub.mjs";
import { all, ofColors, violations } from "./axe.mjs";
import { Browser, address, press } from "./browser.mjs";
import { come, settled, tabs, things } from "./places.mjs";

const pictures = process.env.CONSOLE_PICTURES ?? join(process.cwd(), ".cache", "console-pictures");
const sizes = [[1280, 800], [320, 568]];
const themes = ["light", "dark"];

describe("axe-core finds nothing", () => {
  let browser;
  const ends = [];
  before(async () => {
    browser = await Browser.start();
    await mkdir(pictures, { recursive: true });
  });
  after(async () => {
    await browser?.close();
    for (const end of ends) await end();
  });

  // sweep looks at what is shown in both themes and at all sizes.
  async function sweep(page, what, into, picture = false) {
    for (const [width, height] of sizes) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        for (const { id, help, count, nodes } of await violations(page, (width > 1000) === (colorScheme === "light") ? all : ofColors)) {
          into.push(`${what}, ${width} pixels, ${colorScheme}: ${id} (${help}), ${count} times\n  ${nodes.join("\n  ")}`);
        }
        if (picture) await page.screenshot({ path: join(pictures, `${what.replaceAll(/[^a-z0-9]+/gi, "-")}-${width}-${colorScheme}.png`) });
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  async function open(hub) {
    const tab = await browser.tab();
    await tab.page.goto(await address(hub));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }

  // demo starts a team at work and returns its hub once each of its pages has something.
  async function demo() {
    const hub = await Hub.make();
    const child = spawn(hubcli, ["app", "demo", "--every", "500ms", "--print", "--port", `${hub.port}`], { cwd: hub.root, env: hub.env, stdio: ["ignore", "pipe", "inherit"] });
    ends.push(async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      await hub.close();
    });
    let said = "";
    child.stdout.on("data", (text) => (said += text));
    hub.address = await eventually("the demo says its address", () => said.includes("\n") && said.trim().split("\n").at(-1));
    await eventually("the team has worked", async () => (await hub.get("/v1/log?limit=300")).length > 40 && (await hub.get("/v1/artifacts?limit=9")).length > 1, 60_000);
    // What comes and goes while the team works is there for as long as the test looks.
    const [room] = (hub.rooms = await hub.get("/v1/rooms"));
    await hub.post("/v1/asks", { agent_id: "dev-a", room_id: room.room_id, question: "Round half up, as the bank does?", options: ["yes", "no"] });
    await hub.post("/v1/claims", { owner_agent_id: "dev-a", claim_key: "prices", ttl_sec: 3600 });
    await hub.post("/v1/locks", { agent_id: "dev-a", file_path: "/src/shop/prices.go", ttl_sec: 3600 });
    const { id } = await hub.say("May I rename it?", { from_agent: "dev-a", channel: room.channel, thread_id: "naming" });
    await hub.say("Yes:\n```go\nfunc Round(cents int) int\n```", { from_agent: "lead", channel: room.channel, thread_id: "naming", reply_to: id });
    return hub;
  }

  it("in an empty hub", async () => {
    const hub = await Hub.start();
    ends.push(() => hub.close());
    const broken = [];
    const { page, wrong, close } = await open(hub);
    for (const place of tabs) {
      await come(page, `${hub.url}/ui/${place}`);
      await sweep(page, `empty ${place}`, broken);
    }
    const outside = await browser.tab();
    await outside.page.goto(hub.url);
    await outside.page.getByText("hubcli app open").waitFor();
    await sweep(outside.page, "without a pass", broken);
    await come(page, `${hub.url}/ui/no/such/place`);
    await sweep(page, "nowhere", broken);
    assert.equal(broken.join("\n"), "");
    assert.deepEqual([...wrong, ...outside.wrong], []);
    await outside.close();
    await hub.end("SIGKILL");
    await page.getByText("not connected", { exact: true }).waitFor({ timeout: 30_000 });
    await sweep(page, "not connected", broken);
    assert.equal(broken.join("\n"), "");
    await close();
  });

  it("in a hub with a team, with dialogs and without", async () => {
    const hub = await demo();
    const broken = [];
    const { page, wrong, close } = await browser.tab();
    await page.goto(hub.address);
    await page.getByText("connected", { exact: true }).waitFor();
    const [room] = hub.rooms;
    for (const place of [...tabs, ...(await things(hub, room))]) {
      await come(page, `${hub.url}/ui/${place}`);
      await sweep(page, place, broken, true);
    }
    for (const [what, place, show] of await dialogs(hub, room)) {
      await come(page, `${hub.url}/ui/${place}`);
      await show(page);
      await sweep(page, what, broken);
    }
    assert.equal(broken.join("\n"), "");
    assert.deepEqual(wrong, []);
    await close();
  });

  // dialogs are what a person opens on the pages.
  async function dialogs(hub, room) {
    const opens = (name) => async (page) => {
      await press(page.getByRole("button", { name }).first());
      await page.getByRole("dialog").waitFor();
    };
    const unfold = async (page) => {
      for (const summary of await page.locator("main details:not([open]) > summary").elementHandles()) await summary.click();
    };
    const [agent] = await hub.get("/v1/agents");
    return [
      ["the keys", "now", opens("Keys")],
      ["a pause of a room", `rooms/${room.room_id}`, opens("Pause the room")],
      ["a pause of anybody", "agents", opens("Pause…")],
      ["a budget", `agents/${agent.agent_id}`, opens("Budget")],
      ["a broken claim", "leases", opens(/^Break/)],
      ["a broken lock", "leases?tab=locks", opens(/^Break/)],
      ["makers of rooms", "settings", unfold],
      ["a room's settings", `settings/${room.room_id}`, unfold],
      ["a filter without rows", "tasks?q=nothinghasthis", () => {}],
      ["an invite", "settings?tab=invites", async (page) => {
        await unfold(page);
        await press(page.getByRole("button", { name: "Make the invite" }));
        await page.getByRole("dialog").waitFor();
      }],
      ["new connections", "settings?tab=connections", unfold],
      ["new capsules", "settings?tab=capsules", unfold],
      ["new spawns", "settings?tab=spawns", unfold],
      ["prompts", "settings?tab=prompts", unfold],
    ];
  }
});
