// Answers that were not meant: what comes, goes and moves while a person points, presses and types.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, eventually, hubcli } from "../outside/hub.mjs";
import { Browser, address, press, settle } from "./browser.mjs";

const run = promisify(execFile);
const rest = 700; // ms, as the page has it

describe("No answer that was not meant", () => {
  let hub, browser, tab, page;
  const waiting = new Set(); // permission prompts that are waited for
  const cli = async (...args) => (await run(hubcli, [...args, "--base-url", hub.url], { env: hub.env })).stdout;
  const of = (id) => hub.get(`/v1/asks?agent_id=${id}&limit=1`).then(([ask]) => ask);
  const ask = (agent, question, ...options) => hub.post("/v1/asks", { agent_id: agent, question, options });
  const row = (text) => page.locator("[data-ask]", { hasText: text });
  const picture = async (name) => {
    const dir = process.env.CONSOLE_PICTURES;
    if (!dir) return;
    await mkdir(dir, { recursive: true });
    await page.screenshot({ path: join(dir, `answers-${name}.png`) });
  };

  // prompt has an agent ask whether a tool may run, and keeps the question open.
  async function prompt(agent, about) {
    const { ask_id } = await hub.post("/v1/permissions/requests", { agent_id: agent, tool: "Bash", command: about, about });
    const stop = new AbortController();
    waiting.add(stop);
    hub.post(`/v1/permissions/requests/${ask_id}/await`, { agent_id: agent, wait_sec: 60 }).catch(() => {});
    return ask_id;
  }

  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await cli("app", "permissions", "on", "--wait", "60s");
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });
  beforeEach(async () => {
    const open = JSON.parse(await cli("inbox", "--json"));
    for (const one of open) await cli("answer", one.ask_id, "--dismiss");
    await tab?.close();
    tab = await browser.tab({ viewport: { width: 1440, height: 900 } });
    page = tab.page;
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
  });

  // clickAsItComes has the page click the first answer of a question in the moment it comes,
  // however busy the machine is.
  const clickAsItComes = (question) =>
    page.evaluate((question) => {
      const seen = new MutationObserver(() => {
        const asked = [...document.querySelectorAll("[data-ask]")].find((one) => one.textContent.includes(question));
        const button = asked?.querySelector("[data-answer]");
        if (!button) return;
        seen.disconnect();
        button.click();
      });
      seen.observe(document.body, { subtree: true, childList: true });
    }, question);

  const centre = async (button) => {
    const box = await button.boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };

  it("does not move a prompt under the pointer", async () => {
    await prompt("qa-1", "go test ./cart");
    const allow = row("go test ./cart").getByRole("button", { name: "allow", exact: true });
    await allow.waitFor();
    await settle(page);
    const [x, y] = await centre(allow);
    await page.mouse.move(x, y);
    await prompt("sec", "rm -rf /home/sam/shop");
    await row("rm -rf").waitFor();
    assert.deepEqual(await centre(allow), [x, y]);
    await picture("prompts");
    await page.mouse.click(x, y);
    await page.getByText("Answered allow to qa-1: Bash: go test ./cart").waitFor();
    assert.equal((await of("qa-1")).answer, "allow");
    assert.equal((await of("sec")).state, "open");
    assert.deepEqual(tab.wrong, []);
  });

  it("takes no click on a button that has just come", async () => {
    await clickAsItComes("Round half up?");
    await ask("dev-a", "Round half up?", "yes", "no");
    const yes = row("Round half up?").getByRole("button", { name: "yes", exact: true });
    await page.getByText(/Nothing was done: “yes” had only just come here/).waitFor();
    assert.equal((await of("dev-a")).state, "open");
    await settle(page);
    const [x, y] = await centre(yes);
    await page.mouse.click(x, y);
    await page.getByText("Answered yes to dev-a: Round half up?").waitFor();
    assert.deepEqual(tab.wrong, []);
  });

  it("takes no key on a button that has just moved", async () => {
    await ask("dev-b", "First?", "yes", "no");
    await row("First?").waitFor();
    await settle(page);
    await page.keyboard.press("q");
    await page.evaluate(() => {
      // Whatever the reason is for which things move.
      document.querySelector("main h1").style.paddingBlockEnd = "60px";
    });
    await page.keyboard.press("1");
    await page.getByText(/Nothing was done: “yes” had only just come here/).waitFor();
    assert.equal((await of("dev-b")).state, "open");
    await settle(page);
    await page.keyboard.press("1");
    await page.getByText("Answered yes to dev-b: First?").waitFor();
  });

  it("keeps what is typed in a question that is answered elsewhere, and none of it is a key", async () => {
    const tone = await ask("docs", "What tone?");
    await prompt("ops", "terraform destroy");
    await row("terraform destroy").waitFor();
    await row("What tone?").getByRole("textbox").click();
    await page.keyboard.type("Plain words, ");
    await cli("answer", tone.ask_id, "plain", "--as", "eva");
    await row("What tone?").getByText("answered meanwhile by eva: plain").waitFor();
    await page.keyboard.type("no quotes, 1 line each q11\n");
    assert.equal(await row("What tone?").getByRole("textbox").inputValue(), "Plain words, no quotes, 1 line each q11");
    assert.equal((await of("ops")).state, "open");
    assert.equal((await of("docs")).answer, "plain");
    assert.ok(page.url().endsWith("/ui/now"), page.url());
    await picture("answered-meanwhile");
    // The words are there again after a look at another page, until they are put away.
    await page.getByRole("navigation").getByRole("link", { name: "Tasks" }).click();
    await page.getByRole("navigation").getByRole("link", { name: /^Now/ }).click();
    assert.equal(await row("What tone?").getByRole("textbox").inputValue(), "Plain words, no quotes, 1 line each q11");
    await settle(page);
    await row("What tone?").getByRole("button", { name: "Put away" }).click();
    await row("What tone?").waitFor({ state: "detached" });
    assert.deepEqual(tab.wrong, []);
  });

  it("moves nothing in the list when a question of it is closed elsewhere", async () => {
    const first = await ask("dev-a", "Which of the two?", "one", "two");
    await prompt("qa-1", "make lint");
    await ask("dev-b", "Go on?", "yes", "no");
    const yes = row("Go on?").getByRole("button", { name: "yes", exact: true });
    await yes.waitFor();
    await settle(page);
    const [x, y] = await centre(yes);
    const place = await row("Go on?").boundingBox();
    await page.mouse.move(x, y);
    await cli("answer", first.ask_id, "because ".repeat(60), "--text", "--as", "eva");
    await cli("answer", (await of("qa-1")).ask_id, "deny", "--as", "eva");
    await row("Which of the two?").getByText("answered meanwhile by eva: because").waitFor();
    await row("make lint").getByText("answered meanwhile by eva: deny").waitFor();
    assert.deepEqual(await row("Go on?").boundingBox(), place);
    await row("Which of the two?").getByRole("button", { name: "Put away" }).waitFor();
    await picture("closed-elsewhere");
    await page.mouse.click(x, y);
    await page.getByText("Answered yes to dev-b: Go on?").waitFor();
    await page.mouse.click(5, 5);
    await row("Which of the two?").waitFor({ state: "detached" }); // nobody is at work there any more
  });

  it("keeps the words when the question is closed in the moment of the click on Answer", async () => {
    const tone = await ask("docs", "What color?");
    await row("What color?").waitFor();
    await row("What color?").getByRole("textbox").fill("a dark green");
    await settle(page);
    const [x, y] = await centre(row("What color?").getByRole("button", { name: "Answer", exact: true }));
    await page.mouse.move(x, y);
    await cli("answer", tone.ask_id, "blue", "--as", "eva");
    await page.waitForFunction(() => document.querySelector(".ask.over"));
    await page.mouse.click(x, y);
    await page.getByText(/Nothing was done: “Put away” had only just come here/).waitFor();
    assert.equal(await row("What color?").getByRole("textbox").inputValue(), "a dark green");
    await settle(page);
    await page.mouse.click(x, y);
    await row("What color?").waitFor({ state: "detached" });
  });

  it("takes no key for the next question when a button with the focus goes", async () => {
    await prompt("qa-1", "make fmt");
    await ask("dev-a", "Then ship it?", "yes", "no");
    await row("Then ship it?").waitFor();
    await settle(page);
    await page.keyboard.press("q");
    await page.keyboard.press("1"); // the focus is on allow
    await cli("answer", (await of("qa-1")).ask_id, "deny", "--as", "eva");
    await row("make fmt").getByText("answered meanwhile by eva: deny").waitFor();
    await page.keyboard.type("1q11");
    await page.keyboard.press("Enter");
    await page.getByText(/What you were in is gone/).waitFor();
    assert.equal((await of("dev-a")).state, "open");
    await row("make fmt").waitFor(); // Enter has not put it away either
    await settle(page);
    await page.keyboard.press("Tab");
    await page.keyboard.type("q1");
    await page.getByText("Answered yes to dev-a: Then ship it?").waitFor();
    assert.equal((await of("qa-1")).answer, "deny");
  });

  it("takes no click on a button that a message of the page has only just uncovered", async () => {
    await page.setViewportSize({ width: 700, height: 500 });
    await clickAsItComes("Number 8?");
    for (let n = 1; n < 9; n++) await ask("dev-c", `Number ${n}?`, "yes", "no");
    const close = page.locator(".outcome").getByRole("button", { name: "Close" });
    await close.waitFor();
    const yes = row("Number 4?").getByRole("button", { name: "yes", exact: true });
    await yes.evaluate((button) => {
      // Under the message, whose place at the foot of the page is the same for all texts.
      const [at, cover] = [button.getBoundingClientRect(), document.querySelector(".outcome").getBoundingClientRect()];
      document.scrollingElement.scrollTop += at.top + at.height / 2 - cover.top - cover.height / 2;
      document.querySelector(".outcome").style.insetInline = "0";
    });
    await settle(page);
    const [x, y] = await centre(yes);
    assert.equal(await page.evaluate(([x, y]) => document.elementFromPoint(x, y).closest(".outcome") !== null, [x, y]), true);
    await page.evaluate(
      ([x, y]) => {
        const seen = new MutationObserver(() => {
          const under = document.elementFromPoint(x, y);
          if (under.closest(".outcome")) return;
          seen.disconnect();
          under.closest("button").click();
        });
        seen.observe(document.body, { subtree: true, childList: true });
        document.querySelector(".outcome button").click();
      },
      [x, y],
    );
    await page.getByText(/Nothing was done: “yes” had only just come here/).waitFor();
    assert.equal((await of("dev-c")).state, "open");
    const open = JSON.parse(await cli("inbox", "--json"));
    assert.equal(open.length, 8);
  });

  it("takes no letter for a key after what had the focus was taken away", async () => {
    await prompt("ops", "make deploy");
    await row("make deploy").waitFor();
    await settle(page);
    await page.evaluate(() => {
      const field = document.createElement("button");
      field.id = "gone";
      document.querySelector("main").append(field);
      field.focus();
      field.remove();
    });
    await page.keyboard.type("q1q1g t");
    await page.getByText(/What you were in is gone/).waitFor();
    assert.ok(page.url().endsWith("/ui/now"), page.url());
    assert.equal((await of("ops")).state, "open");
    await page.keyboard.press("Tab");
    await page.keyboard.type("gt");
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
  });

  it("needs more than one key for a permission prompt", async () => {
    await prompt("ops", "terraform plan");
    await row("terraform plan").waitFor();
    await settle(page);
    await page.keyboard.press("q");
    await page.keyboard.press("Enter"); // to the first answer
    await page.keyboard.press("1");
    await page.keyboard.press("1");
    assert.equal((await of("ops")).state, "open");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "allow");
    // A number that was pressed before the focus went elsewhere does not count.
    await page.keyboard.press("q");
    await page.keyboard.press("Tab");
    await page.waitForFunction(({ rest, from }) => performance.now() - from > rest, { rest, from: await page.evaluate(() => performance.now()) });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "allow");
    await page.keyboard.press("1");
    assert.equal((await of("ops")).state, "open");
    await page.keyboard.press("2");
    await page.keyboard.press("Enter");
    await page.getByText("Answered deny to ops: Bash: terraform plan").waitFor();
    await prompt("ops", "terraform show");
    await row("terraform show").waitFor();
    await settle(page);
    await page.keyboard.press("q");
    await page.keyboard.press("1");
    const armed = Date.now();
    await page.waitForTimeout(0);
    await eventually("the second press counts after a moment", async () => {
      if (Date.now() - armed <= rest) return false;
      await page.keyboard.press("1");
      return true;
    });
    await page.getByText("Answered allow to ops: Bash: terraform show").waitFor();
    assert.deepEqual(tab.wrong, []);
  });

  it("asks about a word that is nearly an option", async () => {
    await ask("dev-a", "Deploy?", "yes", "no");
    await row("Deploy?").waitFor();
    await settle(page);
    await row("Deploy?").getByRole("textbox").fill("yse");
    await row("Deploy?").getByRole("button", { name: "Answer", exact: true }).click();
    await row("Deploy?").getByText("Did you mean yes?").waitFor();
    assert.equal((await of("dev-a")).state, "open");
    await picture("did-you-mean");
    await press(row("Deploy?").getByRole("button", { name: "Answer yes" }));
    await page.getByText("Answered yes to dev-a: Deploy?").waitFor();
    await ask("dev-b", "Ship?", "yes", "no");
    await row("Ship?").waitFor();
    await settle(page);
    await row("Ship?").getByRole("textbox").fill("Yes");
    await row("Ship?").getByRole("button", { name: "Answer", exact: true }).click();
    await press(row("Ship?").getByRole("button", { name: "Send my words as they are" }));
    await page.getByText("Answered Yes to dev-b: Ship?").waitFor();
    assert.deepEqual(tab.wrong.filter((one) => !one.includes("409")), []);
  });

  it("protects a dialog that decides: a double click confirms nothing", async () => {
    await cli("claim", "parser", "--agent", "dev-a");
    await page.getByRole("navigation").getByRole("link", { name: "Leases" }).click();
    const open = page.getByRole("button", { name: /^Break/ }).first();
    await open.waitFor();
    await settle(page);
    await open.click();
    await page.locator("dialog textarea").fill("stale");
    const confirm = page.locator("dialog button[type=submit]");
    const held = async () => JSON.parse(await cli("claims", "--json")).length;
    await page.locator("dialog textarea").press("Escape");
    await page.keyboard.press("Escape");
    await open.click();
    await page.evaluate(() => document.querySelector("dialog button[type=submit]").click());
    assert.equal(await held(), 1);
    await page.locator("dialog textarea").fill("stale");
    await confirm.click();
    await picture("dialog");
    await eventually("the claim is broken", async () => (await held()) === 0);
  });

  it("says which words were for what has gone", async () => {
    await cli("claim", "lexer", "--agent", "dev-a");
    await page.getByRole("navigation").getByRole("link", { name: "Leases" }).click();
    await page.getByRole("button", { name: /^Break/ }).first().click();
    await page.locator("dialog textarea").fill("it has been idle q1");
    await cli("claim", "lexer", "--agent", "dev-a", "--release");
    await page.getByText(/Nothing was done. Your words were: it has been idle q1/).waitFor();
    await page.keyboard.type("gt");
    assert.ok(page.url().includes("/ui/leases"), page.url());
    await page.mouse.click(5, 5);
    await page.keyboard.type("gt");
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
  });

  it("takes an answer back that nobody has read, and says why not when somebody has", async () => {
    await ask("undo-a", "Take the north road?", "yes", "no");
    const north = row("Take the north road?");
    await north.waitFor();
    await settle(page);
    await north.getByRole("button", { name: "yes", exact: true }).click();
    await north.getByText("you answered: yes").waitFor();
    await settle(page);
    await picture("take-back");
    await north.getByRole("button", { name: "Take back" }).click();
    await north.getByRole("button", { name: "no", exact: true }).waitFor();
    assert.equal((await of("undo-a")).state, "open");
    await settle(page);
    await north.getByRole("button", { name: "no", exact: true }).click();
    await north.getByText("you answered: no").waitFor();
    const inbox = await hub.get("/v1/inbox/undo-a");
    assert.deepEqual(inbox.map((m) => m.body), ["no"]);
    await settle(page);
    await north.getByRole("button", { name: "Take back" }).click();
    await page.getByText("an agent has read the answer already").waitFor();
    await north.getByRole("button", { name: "Take back" }).waitFor({ state: "detached" });
  });
});
