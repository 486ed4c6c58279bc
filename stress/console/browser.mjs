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
  static async start() {
    const browser = new Browser();
    browser.process = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
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

const run = promisify(execFile);

// address returns an address of the console with a code that is good once.
export async function address(hub, ...flags) {
  const { stdout } = await run(hubcli, ["app", "open", "--print", "--base-url", hub.url, ...flags], { env: hub.env });
  return stdout.trim();
}

// passes returns the passes in force.
export async function passes(hub) {
  const { stdout } = await run(hubcli, ["app", "open", "--list", "--json", "--base-url", hub.url], { env: hub.env });
  return JSON.parse(stdout);
}

// end ends a pass.
export const end = (hub, pass) => run(hubcli, ["app", "open", "--end", pass, "--base-url", hub.url], { env: hub.env });
