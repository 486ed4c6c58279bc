// What the operator sets up on the page really happens: the terminal says the same.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, stat, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, eventually, hubcli } from "../outside/hub.mjs";
import { Browser, address, passes, press, settle } from "./browser.mjs";
import { read } from "./qr.mjs";

const run = promisify(execFile);

describe("the settings of a hub", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.make();
    await mkdir(join(hub.root, ".kiro"));
    await hub.run();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Checkout", topic: "Money", created_by: "lead" });
    await hub.post("/v1/decisions", { room_id: room.room_id, title: "Round half up", by: "lead" });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const cli = async (...args) => (await run(hubcli, [...args, "--base-url", hub.url], { env: hub.env, cwd: hub.root })).stdout;
  const json = async (...args) => JSON.parse(await cli(...args, "--json"));

  async function open(place, options) {
    const tab = await browser.tab(options);
    await tab.page.goto((await address(hub)).replace("/ui/#", `/ui/${place}#`));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }
  const confirm = async (page, name) => {
    await settle(page);
    await press(page.getByRole("dialog").getByRole("button", { name, exact: true }));
  };

  it("makes, renames and archives projects and rooms", async () => {
    const { page, wrong, close } = await open("settings");
    const maker = page.locator(".makers details[open]");
    await page.getByText("Make a project").click();
    await maker.getByLabel("Name", { exact: true }).fill("Warehouse");
    await press(page.getByRole("button", { name: "Make the project" }));
    await page.getByRole("heading", { name: "Warehouse" }).waitFor();
    await page.getByRole("button", { name: "Make the project" }).waitFor();
    await maker.getByLabel("Name", { exact: true }).fill("warehouse");
    await press(page.getByRole("button", { name: "Make the project" }));
    await page.getByRole("alert").getByText(/warehouse/i).waitFor(); // there is one already
    await page.getByText("Make a project").click();
    await page.getByText("Make a room").click();
    await page.getByRole("combobox", { name: "Project" }).selectOption("Warehouse");
    await maker.getByLabel("Name", { exact: true }).fill("Shelves <b>");
    await press(page.getByRole("button", { name: "Make the room" }));
    await page.getByRole("link", { name: "Shelves <b>" }).click();
    await page.getByRole("heading", { level: 1, name: "Shelves <b>" }).waitFor();
    await page.getByLabel("New name").fill("Racks");
    await press(page.getByRole("button", { name: "Rename" }));
    await page.getByRole("heading", { level: 1, name: "Racks" }).waitFor();
    await press(page.getByRole("button", { name: "Archive" }));
    await confirm(page, "Archive");
    await page.getByText("archived", { exact: true }).waitFor();
    assert.ok(!(await cli("room", "list", "--project", "warehouse")).includes("Racks"));
    await press(page.getByRole("button", { name: "Bring back" }));
    await confirm(page, "Bring back");
    await page.getByRole("button", { name: "Archive" }).waitFor();
    assert.match(await cli("room", "list", "--project", "warehouse"), /Racks/);
    assert.deepEqual(wrong.filter((one) => !one.includes("409")), []);
    await close();
  });

  it("binds folders, and sets locks, guard and hosts of a room", async () => {
    const { page, wrong, close } = await open(`settings/${room.room_id}`);
    const now = () => hub.get(`/v1/rooms/${room.room_id}`);
    await page.getByLabel("A folder of the machine of the hub").fill(hub.root);
    await press(page.getByRole("button", { name: "Bind", exact: true }));
    await page.getByText("The folder is bound.").waitFor();
    assert.match(await cli("resolve", hub.root), new RegExp(room.room_id));
    await press(page.getByRole("button", { name: "Unbind" }));
    await confirm(page, "Unbind");
    await page.getByText("No folder is bound").waitFor();
    assert.deepEqual((await now()).bindings, []);
    await page.getByLabel("A host without a public address").fill("localhost:3000");
    await press(page.getByRole("button", { name: "Allow", exact: true }));
    await page.getByText("The host is allowed.").waitFor();
    await page.getByLabel(/is refused, not just warned of/).check();
    await page.getByLabel(/Posts in turn/).fill("30");
    await press(page.getByRole("button", { name: "Save" }));
    await page.getByText("Saved.").waitFor();
    const set = await now();
    assert.deepEqual([set.locks, set.guard_hops, set.allowed_hosts], ["refuse", 30, ["localhost:3000"]]);
    await press(page.getByRole("button", { name: "Take back localhost:3000" }));
    await confirm(page, "Take back");
    await page.getByText("reaches the public internet alone").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows the code of an invite once, and as a QR code that is read", async () => {
    // The reader reads what another encoder has drawn.
    const other = "1fcec7f,1051f41,174c05d,174405d,175cb5d,104ca41,1fd557f,fc00,1547012,3324cb,463423,68da10,18740c3,4aebc9,13c808b,caa8f2,11f17f0,1fb17,1fc3557,1049910,17525f3,174a1bc,1750b3d,104e1aa,1fd5153";
    assert.equal(read(other.split(",").map((row) => [...parseInt(row, 16).toString(2).padStart(25, "0")].map((bit) => bit === "1"))), "hubcli join 7KQ2-M9XD");

    const { page, wrong, close } = await open("settings?tab=invites");
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByText("Invite an agent").click();
    await page.getByLabel("Role").fill("reviewer");
    await page.getByLabel("Uses").fill("2");
    await press(page.getByRole("button", { name: "Make the invite" }));
    const command = await page.getByRole("dialog").locator("code").textContent();
    const [, code] = command.match(/^hubcli join ([0-9A-Z]{4}-[0-9A-Z]{4}) --base-url http:\/\/127\.0\.0\.1:\d+$/);
    const drawn = await page.getByRole("dialog").getByRole("img").evaluate((svg) => ({
      size: svg.viewBox.baseVal.width,
      dark: svg.querySelector(".dark").getAttribute("d"),
    }));
    const grid = Array.from({ length: drawn.size - 8 }, () => new Array(drawn.size - 8).fill(false));
    for (const [, x, y] of drawn.dark.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) grid[y - 4][x - 4] = true;
    assert.equal(read(grid), command);
    await press(page.getByRole("dialog").getByRole("button", { name: "Done" }));
    assert.ok(!(await page.content()).includes(code));
    assert.ok(!page.url().includes(code) && asked.every((url) => !url.includes(code)));
    await page.getByText(/0 of 2 uses/).waitFor();
    assert.match(await cli("join", code, "--agent", "eva"), /Checkout/);
    await page.getByText(/1 of 2 uses/).waitFor();
    await press(page.getByRole("button", { name: "Revoke" }));
    await confirm(page, "Revoke");
    await page.getByText("revoked", { exact: true }).waitFor();
    await assert.rejects(cli("join", code, "--agent", "paul"));
    assert.deepEqual(wrong, []);
    await close();
  });

  it("installs an adapter as it was shown, and takes it out again", async () => {
    const { page, wrong, close } = await open("settings?tab=adapters");
    const file = join(hub.root, ".kiro", "settings", "mcp.json");
    await press(page.getByRole("button", { name: "Install: Kiro", exact: true }));
    await page.getByRole("dialog").getByText(file).first().waitFor();
    await assert.rejects(stat(file)); // nothing is written yet
    assert.match(await page.getByRole("region", { name: "The plan" }).textContent(), /\+ .*"command": ".*hubcli"/);
    await confirm(page, "Confirm: install");
    await page.getByRole("dialog").getByText("Done.").waitFor();
    await press(page.getByRole("dialog").getByRole("button", { name: "Close" }).last());
    await page.getByRole("button", { name: "Uninstall: Kiro", exact: true }).waitFor();
    assert.match(await readFile(file, "utf8"), /hubcli/);
    assert.match(await cli("adapter", "status", "kiro"), /installed/);
    await press(page.getByRole("button", { name: "Verify" }));
    await page.getByText(/^Tried, and/).waitFor({ timeout: 60_000 });
    await press(page.getByRole("button", { name: "Uninstall: Kiro", exact: true }));
    await confirm(page, "Confirm: uninstall");
    await page.getByRole("dialog").getByText("Done.").waitFor();
    await assert.rejects(stat(file));
    assert.deepEqual(wrong, []);
    await close();
  });

  it("changes the spawn policy, shows what runs, and stops it", async () => {
    const { page, wrong, close } = await open("settings?tab=spawns");
    await page.getByText("hubcli app spawns policy --set FILE").waitFor(); // a page names no program
    const first = { version: 0, commands: [{ harness: "generic", args: ["/bin/sleep", "600"], dir: hub.root }] };
    await writeFile(join(hub.root, "policy.json"), JSON.stringify(first));
    await cli("app", "spawns", "policy", "--set", join(hub.root, "policy.json"));
    await page.getByText("Allow a room").click();
    await page.getByRole("combobox", { name: "Room" }).selectOption("Checkout");
    await press(page.getByRole("button", { name: "Allow", exact: true }));
    await page.getByText("generic, 4 at once").waitFor();
    await page.getByLabel("Started in any hour").fill("7");
    await press(page.getByRole("button", { name: "Save" }));
    await page.getByText("Saved.").waitFor();
    assert.equal(await page.getByLabel("Started in any hour").inputValue(), "7");
    await eventually("the limit is kept", async () => JSON.parse(await cli("app", "spawns", "policy")).max_per_hour === 7);
    const policy = JSON.parse(await cli("app", "spawns", "policy"));
    assert.deepEqual(policy.commands[0].args, ["/bin/sleep", "600"]);
    assert.equal(policy.allow[0].room_id, room.room_id);
    await hub.post("/v1/spawn", { room_id: room.room_id, harness: "generic", by: "lead" });
    await page.getByText("running", { exact: true }).waitFor();
    await press(page.getByRole("button", { name: "Stop" }));
    await confirm(page, "Stop");
    await page.getByText("stopped", { exact: true }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("sets permission rules, notifications and tool surfaces", async () => {
    const { page, wrong, close } = await open("settings?tab=prompts");
    for (const [decision, words] of [["deny", "git push"], ["allow", "git status"]]) {
      if (!(await page.getByLabel("Decision").isVisible())) await page.getByText("Add a rule").click();
      await page.getByLabel("Decision").selectOption(decision);
      await page.getByLabel(/^Tool/).fill("Bash");
      await page.getByLabel("First words of the command").fill(words);
      await press(page.getByRole("button", { name: "Add the rule" }));
      await page.getByRole("listitem").getByText(words).waitFor();
    }
    await press(page.getByRole("button", { name: "Move rule 2 up" }));
    await page.getByRole("region", { name: "Rules" }).getByRole("listitem").first().getByText("git status").waitFor(); // the move has its version
    await page.waitForFunction(() => document.activeElement.ariaLabel === "Move rule 1 down");
    await page.getByLabel(/Prompts come to you/).check();
    await press(page.getByRole("button", { name: "Save" }));
    await page.getByText("come to you", { exact: true }).waitFor();
    assert.match(await cli("app", "permissions", "list"), /on[^]*1 +allow Bash git status[^]*2 +deny Bash git push/);
    await press(page.getByRole("button", { name: "Remove" }).last());
    await confirm(page, "Remove");
    await page.getByText("git push").waitFor({ state: "detached" });

    await page.getByRole("tab", { name: "Notifications" }).click();
    await run(hubcli, ["app", "notify", "--base-url", hub.url, "--", "/bin/false"], { env: hub.env });
    await page.getByLabel("A program tells you:").waitFor();
    await press(page.getByRole("button", { name: "Send a made-up question" }));
    await page.getByRole("status").getByText(/exit|status/).waitFor();

    await page.getByRole("tab", { name: "Tools" }).click();
    await page.getByRole("combobox", { name: "Tools of codex" }).selectOption("progressive");
    await eventually("the surface is set", async () => (await hub.get("/v1/tool-surface?harness=codex"))[0].surface === "progressive");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("keeps what a person types while a form is sent", async () => {
    const { page, wrong, close } = await open("settings?tab=prompts");
    let answer;
    await page.route("**/v1/permissions", (route) => (route.request().method() === "PUT" ? (answer = () => route.continue()) : route.continue()));
    await page.getByText("Add a rule").click();
    const tool = page.getByLabel(/^Tool/);
    await tool.fill("Write");
    await press(page.getByRole("button", { name: "Add the rule" }));
    await eventually("the rule is sent", () => answer);
    await tool.fill("Edit");
    await answer();
    await page.getByText("The rule is the last one now.").waitFor();
    assert.equal(await tool.inputValue(), "Edit");
    answer = null;
    await press(page.getByRole("button", { name: "Add the rule" }));
    await eventually("the next rule is sent", () => answer);
    await answer();
    await page.getByRole("listitem").getByText("Edit").waitFor();
    await eventually("the field is empty", async () => (await tool.inputValue()) === "");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("exports a project and imports it, each as it was planned", async () => {
    const { page, wrong, close } = await open("settings?tab=capsules");
    const out = join(hub.root, "shop.hubpack");
    const part = (name) => page.getByRole("region", { name });
    await part("Export").getByRole("combobox", { name: "Project" }).selectOption("Web shop");
    await part("Export").getByLabel(/^To the file/).fill(out);
    await press(page.getByRole("button", { name: "Plan the export" }));
    await page.getByRole("dialog").getByText(out).first().waitFor();
    await assert.rejects(stat(out));
    await confirm(page, "Write it");
    await page.getByText(/^It is at/).waitFor();
    assert.ok((await stat(out)).size > 0);
    await press(page.getByRole("dialog").getByRole("button", { name: "Close" }).last());
    await part("Inspect").getByLabel("The file", { exact: true }).fill(out);
    await press(page.getByRole("button", { name: "Check it" }));
    await page.getByText(/^Web shop: knowledge.*1 decisions/).waitFor();
    await part("Import").getByLabel("The file", { exact: true }).fill(out);
    await press(page.getByRole("button", { name: "Plan the import" }));
    await confirm(page, "Import it");
    await page.getByText(/^The project .* is there\./).waitFor();
    assert.match(await cli("project", "list"), /Web shop.*\n[^]*Web shop/);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("verifies a connection, and deletes it", async () => {
    const provider = createServer((_, answer) => answer.setHeader("Content-Type", "application/json").end('{"data":[{"id":"tiny-1"}]}'));
    await new Promise((done) => provider.listen(0, "127.0.0.1", done));
    await cli("connection", "create", "--provider", "custom", "--label", "mine", "--endpoint", `http://127.0.0.1:${provider.address().port}/v1`, "--no-key");
    const { page, wrong, close } = await open("settings?tab=connections");
    await press(page.getByRole("button", { name: "Verify mine" }));
    await page.getByText("1 models").click();
    await page.getByText("tiny-1").waitFor();
    await press(page.getByRole("button", { name: "Delete" }));
    await confirm(page, "Delete");
    await page.getByText("The hub is connected to no provider.").waitFor();
    assert.deepEqual(await json("connection", "list"), []);
    assert.deepEqual(wrong, []);
    await close();
    provider.close();
  });

  it("ends a pass", async () => {
    const one = await open("settings?tab=access");
    const two = await open("settings?tab=access");
    await two.page.getByText("this tab").waitFor();
    const kept = await two.page.evaluate(() => JSON.parse(sessionStorage.getItem("hubcli.pass")).pass_id);
    const mine = await one.page.evaluate(() => JSON.parse(sessionStorage.getItem("hubcli.pass")).pass_id);
    await press(two.page.getByRole("listitem").filter({ hasText: mine }).getByRole("button", { name: "End" }));
    await confirm(two.page, "End");
    await one.page.getByText("This page needs a pass.").waitFor();
    const left = (await passes(hub)).map((row) => row.pass_id);
    assert.ok(left.includes(kept) && !left.includes(mine));
    assert.deepEqual(two.wrong, []);
    await one.close();
    await two.close();
  });

  for (const [width, height] of [[320, 568], [1280, 800], [3840, 2160]]) {
    it(`fits ${width} pixels`, async () => {
      const { page, wrong, close } = await open("settings", { viewport: { width, height } });
      const tabs = await page.getByRole("tab").allTextContents();
      assert.equal(tabs.length, 10);
      for (const name of tabs) {
        await page.getByRole("tab", { name, exact: true }).click();
        await page.waitForFunction(() => !document.querySelector(".panel [aria-busy]"));
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than ${width}`);
      }
      await page.goto(`${hub.url}/ui/settings/${room.room_id}`);
      await page.getByText("Hosts for its browser").waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `a room is wider than ${width}`);
      assert.deepEqual(wrong, []);
      await close();
    });
  }
});
