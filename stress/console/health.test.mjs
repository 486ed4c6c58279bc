// The figures of the hub on the page: they are those of the hub, taken while the tab is open.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub, eventually } from "../outside/hub.mjs";
import { Browser, address, press } from "./browser.mjs";

describe("the health of a hub", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  async function open(options) {
    const tab = await browser.tab(options);
    await tab.page.goto((await address(hub)).replace("/ui/#", "/ui/health#"));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }

  it("draws the figures, says since when, and keeps them while another page is shown", async () => {
    const { page, wrong, close } = await open();
    await page.getByText("takes writes").waitFor();
    await page.getByText(/^Taken every 5 s since .*by this tab alone/).waitFor();
    const since = await page.getByText(/^Taken every 5 s since/).textContent();
    await page.getByRole("img", { name: /^Memory: [0-9.]+ MB/ }).waitFor();
    await page.getByRole("img", { name: /^Messages: 0\.0 \/s/ }).waitFor(); // a rate needs two samples
    for (let i = 0; i < 20; i++) await hub.say(`message ${i}`);
    await page.getByRole("img", { name: /^Messages: [1-9][0-9.]* \/s/ }).waitFor({ timeout: 15_000 });
    await page.getByRole("img", { name: /^Delay to this page: [0-9.]+ ms/ }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await page.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    assert.equal(await page.getByText(/^Taken every 5 s since/).textContent(), since);
    await page.getByText("No part of the hub is in quarantine.").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("looks inside when it is asked to", async () => {
    const { page, wrong, close } = await open({ viewport: { width: 320, height: 568 } });
    const stop = new AbortController();
    await hub.post("/v1/claims", { claim_key: "parser", owner_agent_id: "dev-b" });
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ claim_key: "parser", owner_agent_id: "dev-a", wait_sec: 60 });
    const wait = fetch(`${hub.url}/v1/claims`, { method: "POST", headers, body, signal: stop.signal }).catch(() => {});
    await eventually("the claim waits", async () => (await hub.parked()) > 0);
    await press(page.getByRole("button", { name: "Look now" }));
    await page.getByRole("region", { name: "Calls that wait" }).getByText("dev-a").waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is wider than 320");
    stop.abort();
    await wait;
    await page.getByText("takes writes").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });
});
