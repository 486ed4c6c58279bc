// What a person does on the page, and what the page says of a team: questions, waits, words.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, hubcli } from "../outside/hub.mjs";
import { Browser, address, press, settle } from "./browser.mjs";
import { circle } from "./circle.mjs";

const run = promisify(execFile);

describe("a person at the console", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const cli = async (...args) => (await run(hubcli, [...args, "--base-url", hub.url], { env: hub.env })).stdout;

  async function open() {
    const { page, wrong, close } = await browser.tab();
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    return { page, wrong, close };
  }

  it("answers a question with one click, and the agent has the answer", async () => {
    const one = await open();
    const two = await open();
    await cli("ask", "--agent", "dev-a", "--option", "yes", "--option", "no <b>way</b>", "Round half up?");
    for (const { page } of [one, two]) {
      await page.getByText("Round half up?").first().waitFor();
      await page.waitForFunction(() => document.title === "(1) Now · hubcli");
      await page.getByRole("heading", { name: "Waits" }).waitFor();
      await page.getByText("1 agent waits for you", { exact: false }).waitFor();
    }
    assert.equal(await one.page.locator("button b").count(), 0);
    await press(one.page.getByRole("button", { name: "no <b>way</b>" }));
    for (const { page } of [one, two]) {
      await page.getByText("No agent asks you anything.").waitFor();
      await page.getByText("No agent asks you anything.").waitFor();
      await page.waitForFunction(() => document.title === "Now · hubcli");
    }
    assert.match(await cli("poll", "--agent", "dev-a", "--timeout", "10"), /no <b>way<\/b>/);
    assert.deepEqual([...one.wrong, ...two.wrong], []);
    await one.close();
    await two.close();
  });

  it("answers in words with the keyboard alone", async () => {
    const { page, wrong, close } = await open();
    await cli("ask", "--agent", "dev-b", "Which branch?");
    const words = page.getByRole("textbox", { name: "Answer to dev-b in your words" });
    await words.fill("main");
    await settle(page);
    await words.press("Enter");
    await page.getByText("No agent asks you anything.").waitFor();
    assert.match(await cli("poll", "--agent", "dev-b", "--timeout", "10"), /main/);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("says something as the operator to one agent", async () => {
    const { page, wrong, close } = await open();
    await page.getByRole("combobox", { name: "To" }).selectOption("agent:dev-a");
    await page.getByRole("textbox", { name: "Say something as the operator" }).fill("stop at noon");
    await press(page.getByRole("button", { name: "Say" }));
    await page.getByText("stop at noon").waitFor();
    assert.match(await cli("poll", "--agent", "dev-a", "--timeout", "10"), /operator -> dev-a> stop at noon/);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows agents that wait for each other in a circle", async () => {
    const { page, wrong, close } = await open();
    const end = await circle(hub);
    await page.getByText("in a circle").first().waitFor();
    await page.getByRole("button", { name: "1 circle" }).waitFor();
    await end();
    assert.deepEqual(wrong, []);
    await close();
  });
});
