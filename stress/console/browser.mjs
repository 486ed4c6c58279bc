// A real browser on a real hub, for a file of tests. CHROMIUM names the browser, which
// comes from the system; HUBCLI names the executable of the hub.
//
// Whatever a page says on its console, throws or violates of its policy is kept, and a test
// ends with none of it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { hubcli } from "../outside/hub.mjs";

assert.ok(process.env.CHROMIUM, "CHROMIUM must name the browser; go run ./internal/check browser sets it");

export class Browser {
  // Where a test moves the clock of its pages, no frame need wait for a screen.
  static async start({ flags = [] } = {}) {
    const browser = new Browser();
    browser.process = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking", "--no-first-run", ...flags],
    });
    return browser;
  }

  close() {
    return this.process.close();
  }

  // tab opens an empty tab with storage of its own. wrong has what went wrong in it; quiet
  // leaves out what a test expects of the network.
  async tab(options = {}) {
    const context = await this.process.newContext(options);
    const page = await context.newPage();
    const wrong = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") wrong.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => wrong.push(`thrown: ${error.message}`));
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    return { page, wrong, close: () => context.close() };
  }
}

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// settle waits until each button of the page has been in its place for long enough to take a click.
export async function settle(page) {
  await frames(page);
  await page.waitForFunction(() => !document.querySelector("button[aria-disabled]"));
}

// press clicks a button as a person does, who looks for it and waits until it takes a click. (What
// the library does by itself scrolls and clicks at once.)
export async function press(button) {
  const page = button.page();
  for (;;) {
    await button.evaluate((it) => it.scrollIntoView({ block: "center" }));
    await frames(page);
    const ready = await button.evaluate(
      (it) =>
        new Promise((done) => {
          const look = () => (!it.isConnected ? done(false) : it.disabled || it.hasAttribute("aria-disabled") ? requestAnimationFrame(look) : done(true));
          look();
        }),
    );
    const box = ready && (await button.boundingBox());
    if (!box) continue; // another one has taken its place
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    return;
  }
}

const run = promisify(execFile);

// address returns an address of the console with a code that is good once.
export async function address(hub, ...flags) {
  const { stdout } = await run(hubcli, ["app", "open", "--print", "--base-url", hub.url, ...flags], { env: hub.env });
  return stdout.trim();
}

// token exchanges a code for a pass as other people's programs do, and returns its secret.
export async function token(hub) {
  const code = (await address(hub)).split("code=")[1];
  const answer = await fetch(`${hub.url}/v1/passes`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
  return (await answer.json()).result.token;
}

// passes returns the passes in force.
export async function passes(hub) {
  const { stdout } = await run(hubcli, ["app", "open", "--list", "--json", "--base-url", hub.url], { env: hub.env });
  return JSON.parse(stdout);
}

// end ends a pass.
export const end = (hub, pass) => run(hubcli, ["app", "open", "--end", pass, "--base-url", hub.url], { env: hub.env });
