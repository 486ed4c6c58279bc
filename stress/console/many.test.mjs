// Long lists in the pages of tasks, leases and agents: they stay small, and say what is cut.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address, press } from "./browser.mjs";

const most = 6_000; // elements of a page

describe("long lists in the console", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await crowd(2_000, (i) => hub.post("/v1/sessions", { agent_id: `dev-${i}`, display_name: `Developer ${i}`, capabilities: [] }));
    const plan = Array.from({ length: 100 }, (_, i) => ({ title: `Step ${i}` }));
    await crowd(11, (i) => hub.post("/v1/runs", { title: `Run ${i}`, created_by: "dev-0", tasks: plan }));
    await crowd(10_000, (i) => hub.post("/v1/claims", { owner_agent_id: `dev-${i % 200}`, claim_key: `part-${String(i).padStart(5, "0")}`, ttl_sec: 3600 }));
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  // crowd makes n things, a hundred at a time.
  async function crowd(n, make) {
    for (let i = 0; i < n; i += 100) await Promise.all(Array.from({ length: Math.min(100, n - i) }, (_, k) => make(i + k)));
  }

  async function open(path) {
    const tab = await browser.tab();
    await tab.page.goto((await address(hub)).replace("/ui/#", `${path}#`));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }
  const elements = (page) => page.evaluate(() => document.querySelectorAll("*").length);

  it("shows 10,000 claims in pages, and finds any of them", async () => {
    const { page, wrong, close } = await open("/ui/leases");
    await page.getByText("1–100 of 1000 claims").waitFor();
    await page.getByText("The hub has more claims; these are among the first 1,000 by name.", { exact: false }).waitFor();
    assert.ok((await elements(page)) < most);
    await press(page.getByRole("button", { name: "Next" }));
    await page.getByText("part-00100").waitFor();
    await page.getByRole("searchbox").fill("part-0987");
    await press(page.getByRole("button", { name: /Look in all claims/ }));
    await page.getByText("part-09876").waitFor();
    await page.goto(`${hub.url}/ui/leases?agent=dev-7`);
    await page.getByText("part-09807").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows 1,100 tasks in pages and on the board, and 2,000 agents", async () => {
    const { page, wrong, close } = await open("/ui/tasks");
    await page.getByText("1–100 of 1000 tasks").waitFor();
    await page.getByText("The hub has more tasks.", { exact: false }).waitFor();
    assert.ok((await elements(page)) < most);
    await page.getByRole("tab", { name: "Board" }).click();
    await page.getByText("950 more are in the tree.").waitFor();
    assert.ok((await elements(page)) < most);
    await page.goto(`${hub.url}/ui/now`);
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await page.getByText("connected", { exact: true }).waitFor();
    assert.ok((await elements(page)) < most, `${await elements(page)} elements`);
    console.log(`Now with 2,000 agents: ${await elements(page)} elements`);
    await page.goto(`${hub.url}/ui/agents`);
    await page.getByText("1–100 of 1000 agents").waitFor();
    await page.getByRole("searchbox").fill("dev-999");
    await press(page.getByRole("button", { name: /Look in all agents/ }));
    await page.getByRole("list", { name: "Agents", exact: true }).getByRole("link", { name: "dev-999" }).waitFor();
    await press(page.getByRole("button", { name: "Show all" }));
    await page.getByRole("searchbox").fill("developer 1177");
    await page.getByRole("list", { name: "Agents", exact: true }).getByRole("link", { name: "dev-1177" }).waitFor();
    assert.ok((await elements(page)) < most);
    assert.deepEqual(wrong, []);
    await close();
  });
});
