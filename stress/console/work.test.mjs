// The pages of tasks, leases and agents: what they show, what a person does there, and that it happens.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, eventually, hubcli } from "../outside/hub.mjs";
import { Browser, address, press, settle } from "./browser.mjs";

const run = promisify(execFile);

describe("tasks, leases and agents in the console", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Check out", created_by: "lead" });
    for (const agent of ["lead", "dev-a", "dev-b", "dev-c"]) await register(agent);
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const cli = async (...args) => (await run(hubcli, [...args, "--base-url", hub.url], { env: hub.env })).stdout;
  const register = (agent_id, fields = {}) => hub.post("/v1/sessions", { agent_id, display_name: agent_id, capabilities: [], ...fields });
  const task = (body, fields = {}) => hub.say(body, { from_agent: "lead", channel: room.channel, kind: "task", ...fields });
  const read = (id) => hub.get(`/v1/tasks/${id}`);
  const change = (id, agent_id, fields) => hub.post(`/v1/tasks/${id}`, { agent_id, ...fields });
  const mail = async (agent) => (await hub.get(`/v1/inbox/${agent}`)).map((m) => m.body).join("\n");

  // answer returns the whole answer to a post.
  async function answer(message) {
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`${hub.url}/v1/messages`, { method: "POST", headers, body: JSON.stringify({ channel: "general", ...message }) })).json();
  }

  async function open(path, options) {
    const tab = await browser.tab(options);
    await tab.page.goto((await address(hub)).replace("/ui/#", `${path}#`));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }

  // act presses a button, fills its dialog and confirms it.
  async function act(page, button, words = "", fill = async () => {}) {
    await settle(page);
    await press(page.getByRole("button", { name: button, exact: true }));
    const dialog = page.getByRole("dialog");
    if (words) await dialog.getByRole("textbox").last().fill(words);
    await fill(dialog);
    await settle(page);
    await press(dialog.locator("button[type=submit]"));
    return dialog;
  }
  const acted = async (dialog) => dialog.waitFor({ state: "detached" });

  const title = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();
  const says = (page, words) => page.getByRole("status").filter({ hasText: words }).waitFor();
  const row = (page, list, text) => page.getByRole("list", { name: list, exact: true }).getByRole("listitem").filter({ hasText: text });

  it("breaks a claim with a reason that the holder and who waits for it are told, and two tabs agree", async () => {
    const held = await hub.post("/v1/claims", { owner_agent_id: "dev-a", claim_key: "schema", ttl_sec: 300 });
    const waits = run(hubcli, ["claim", "schema", "--agent", "dev-b", "--wait", "60", "--base-url", hub.url], { env: hub.env });
    const one = await open("/ui/leases");
    const two = await open("/ui/leases");
    for (const { page } of [one, two]) {
      await row(page, "claims", "schema").getByText("waited for by").waitFor();
      await row(page, "claims", "schema").getByText(/ends in [1-4]:[0-5][0-9]/).waitFor();
    }
    await acted(await act(one.page, "Break the claim schema", "dev-a sleeps"));
    await says(one.page, "The claim schema was taken from dev-a. dev-b was the first in line.");
    for (const { page } of [one, two]) await row(page, "claims", "schema").getByRole("link", { name: "dev-b" }).waitFor();
    await waits;
    const [now] = await hub.get("/v1/claims?active_only=true&claim_key=schema");
    assert.equal(now.owner_agent_id, "dev-b");
    assert.ok(now.fence > held.fence);
    for (const agent of ["dev-a", "dev-b"]) assert.match(await mail(agent), /dev-a sleeps/);
    await cli("claim", "schema", "--agent", "dev-b", "--release");
    for (const { page } of [one, two]) await page.getByText("Nobody holds a claim.").waitFor();
    assert.deepEqual([...one.wrong, ...two.wrong], []);
    await one.close();
    await two.close();
  });

  it("says so when what a dialog is about goes away meanwhile, and does nothing", async () => {
    await hub.post("/v1/claims", { owner_agent_id: "dev-a", claim_key: "parser", ttl_sec: 300 });
    const { page, wrong, close } = await open("/ui/leases");
    await press(page.getByRole("button", { name: "Break the claim parser" }));
    await page.getByRole("dialog").getByRole("textbox").fill("never said");
    await cli("claim", "parser", "--agent", "dev-a", "--release");
    await says(page, "has changed meanwhile. Nothing was done.");
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.doesNotMatch(await mail("dev-a"), /never said/);
    await page.getByRole("link", { name: "Tasks", exact: true }).click();
    await page.getByText("has changed meanwhile").waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows and breaks file locks, links them to task and agent, and keeps filters in the address", async () => {
    const { id } = await task("Mend the cart");
    await hub.post("/v1/locks", { agent_id: "dev-a", file_path: "src/cart.ts", metadata: { task_id: id } });
    await hub.post("/v1/locks", { agent_id: "dev-b", file_path: "src/tax.ts" });
    const { page, wrong, close } = await open("/ui/leases?tab=locks");
    await row(page, "file locks", "src/cart.ts").getByRole("link", { name: `#${id}` }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("tax");
    await row(page, "file locks", "src/cart.ts").waitFor({ state: "detached" });
    assert.equal(new URL(page.url()).searchParams.get("q"), "tax");
    await page.reload();
    await row(page, "file locks", "src/tax.ts").waitFor();
    assert.equal(await row(page, "file locks", "src/cart.ts").count(), 0);
    await acted(await act(page, "Break the file lock src/tax.ts", "wrong file"));
    await page.getByText("No file locks are held that match.").waitFor();
    assert.match(await mail("dev-b"), /wrong file/);
    assert.doesNotMatch(await cli("locks"), /tax\.ts/);
    await page.goto(`${hub.url}/ui/tasks/${id}`);
    await change(id, "dev-a", { status: "working" });
    await row(page, "Held for it", "src/cart.ts").waitFor();
    await acted(await act(page, "Break the file lock src/cart.ts", "over"));
    await change(id, "dev-a", { status: "done" });
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows tasks as a tree with what is done of them, filtered by its address", async () => {
    const parent = await task("Sell to Norway");
    const first = await task("Taxes", { parent_task_id: parent.id });
    const second = await task("Crowns in the cart", { parent_task_id: parent.id, blocked_by: [first.id] });
    await task("Something else");
    const { page, wrong, close } = await open("/ui/tasks");
    const of = (id) => row(page, "Tasks", `#${id}`).first();
    await of(parent.id).getByRole("img", { name: "0 of 2 subtasks done" }).waitFor();
    await row(page, "Tasks", "Crowns in the cart").getByText("blocked").waitFor();
    await row(page, "Tasks", "Crowns in the cart").getByRole("link", { name: `#${first.id}`, exact: true }).waitFor();
    await change(first.id, "dev-a", { status: "working" });
    await change(first.id, "dev-a", { status: "done" });
    await of(parent.id).getByRole("img", { name: "1 of 2 subtasks done" }).waitFor();
    await row(page, "Tasks", "Crowns in the cart").getByText("open").waitFor();

    await press(page.getByRole("button", { name: `Subtasks of task ${parent.id}` }));
    await row(page, "Tasks", "Crowns in the cart").waitFor({ state: "detached" });
    await page.getByRole("searchbox").fill("crowns");
    await row(page, "Tasks", "Something else").waitFor({ state: "detached" });
    await row(page, "Tasks", "Sell to Norway").waitFor(); // for its subtask
    await page.goto(`${hub.url}/ui/tasks?status=done&agent=dev-a`);
    await row(page, "Tasks", "Taxes").waitFor();
    assert.equal(await row(page, "Tasks", "Sell to Norway").count(), 0);
    await change(second.id, "dev-a", { status: "done" });
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows tasks on a board that the keyboard walks, and opens one", async () => {
    const waiting = await task("Waits on the board");
    const begun = await task("Begun on the board");
    await change(begun.id, "dev-b", { status: "working" });
    const { page, wrong, close } = await open("/ui/tasks?tab=board&q=on+the+board");
    const column = (name) => page.getByRole("region", { name });
    await column("open").getByText("Waits on the board").waitFor();
    await column("working").getByText("Begun on the board").waitFor();
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("l");
    assert.match(await focused(), /Waits on the board/);
    await page.keyboard.press("l");
    assert.match(await focused(), /Begun on the board/);
    await page.keyboard.press("h");
    assert.match(await focused(), /Waits on the board/);
    await page.keyboard.press("j");
    assert.match(await focused(), /Begun on the board/);
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await title(page, "Waits on the board");
    assert.equal(new URL(page.url()).pathname, `/ui/tasks/${waiting.id}`);
    await page.keyboard.press("u");
    await title(page, "Tasks");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows runs with their progress, and the tasks of one", async () => {
    const made = await hub.post("/v1/runs", { title: "Release 2", created_by: "lead", room_id: room.room_id, tasks: [{ title: "Build it" }, { title: "Ship it" }] });
    const { page, wrong, close } = await open("/ui/tasks?tab=runs");
    await row(page, "Runs", "Release 2").getByRole("img", { name: "0 of 2 done" }).waitFor();
    await change(made.planned[0], "dev-c", { status: "done" });
    await row(page, "Runs", "Release 2").getByRole("img", { name: "1 of 2 done" }).waitFor();
    await page.getByRole("link", { name: "Release 2" }).click();
    await row(page, "Tasks", "Ship it").waitFor();
    assert.equal(await row(page, "Tasks", "Something else").count(), 0);
    await press(page.getByRole("button", { name: "Show all tasks" }));
    await row(page, "Tasks", "Something else").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("decides hand-overs: accepts one for the agent, and takes one back", async () => {
    const { id } = await task("Write the invoice\n\nWith the number of the order.", { to_agent: "dev-a", kind: "task_request", channel: undefined });
    await hub.post("/v1/claims", { owner_agent_id: "dev-a", task_message_id: id });
    await hub.post(`/v1/tasks/${id}/handoff`, { agent_id: "dev-a", to_agent: "dev-b", note: "you know invoices" });
    const { page, wrong, close } = await open(`/ui/tasks/${id}`);
    await page.getByRole("region", { name: "Details" }).getByText("With the number of the order.").waitFor();
    await row(page, "History", "you know invoices").waitFor();
    await acted(await act(page, "Take back", "dev-b has enough"));
    await page.getByRole("group", { name: "Hand-over" }).waitFor({ state: "detached" });
    assert.match(await mail("dev-b"), /dev-b has enough/);
    await hub.post(`/v1/tasks/${id}/handoff`, { agent_id: "dev-a", to_agent: "dev-c" });
    await page.getByText("who has not answered yet").waitFor();
    await acted(await act(page, "Accept for it", "please begin today"));
    await row(page, "Held for it", `task-${id}`).waitFor(); // it passed with the task
    assert.match(await cli("tasks", "--json"), /"assignee": ?"dev-c"/);
    await eventually("dev-c is told", async () => /please begin today/.test(await mail("dev-c")));
    const [claim] = await hub.get(`/v1/claims?active_only=true&claim_key=task-${id}&agent_id=dev-c`); // others do not see it
    assert.equal(claim.owner_agent_id, "dev-c");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("reassigns, completes and cancels tasks with words that the agents are told", async () => {
    const blocker = await task("Comes first");
    const { id } = await task("Paint it", { blocked_by: [blocker.id] });
    const { page, wrong, close } = await open(`/ui/tasks/${id}`);
    await row(page, "Waits for", "Comes first").waitFor();
    const to = (agent) => (dialog) => dialog.getByRole("combobox").fill(agent);
    await acted(await act(page, "Reassign", "blue, please", to("dev-a")));
    await says(page, `dev-a has task ${id} now. dev-a was told.`);
    assert.equal((await read(id)).assignee, "dev-a");
    assert.match(await mail("dev-a"), /blue, please/);

    await press(page.getByRole("button", { name: "Complete" }));
    await page.getByText(`It still waits for #${blocker.id}.`).waitFor();
    await page.keyboard.press("Escape");
    await acted(await act(page, "Complete", "painted by hand"));
    await page.getByRole("group", { name: "What you can do" }).waitFor({ state: "detached" });
    assert.equal((await read(id)).status, "done");
    await row(page, "History", "painted by hand").waitFor();

    await page.goto(`${hub.url}/ui/tasks/${blocker.id}`);
    await change(blocker.id, "dev-b", { status: "working" });
    await acted(await act(page, "Cancel task", "the customer left"));
    await says(page, `Task ${blocker.id} was cancelled. dev-b was told.`);
    assert.equal((await read(blocker.id)).status, "cancelled");
    assert.match(await mail("dev-b"), /I have cancelled task [0-9]+: the customer left/);
    await page.goto(`${hub.url}/ui/tasks/999999`);
    await page.getByText(/there is no task 999999/).waitFor();
    assert.deepEqual(wrong.filter((one) => !/404/.test(one)), []);
    await close();
  });

  it("pauses an agent, a room and everybody with words that they are told, and resumes them", async () => {
    const one = await open("/ui/agents/dev-a");
    const two = await open("/ui/agents");
    await acted(await act(one.page, "Pause", "the tests are broken"));
    await one.page.getByText("the tests are broken", { exact: true }).waitFor();
    await row(two.page, "Paused and muted", "the tests are broken").waitFor();
    await row(two.page, "Agents", "dev-a").getByText("paused").waitFor();
    const refused = await answer({ from_agent: "dev-a", body: "hello" });
    assert.equal(refused.code, "paused");
    assert.equal(refused.status, 409);
    assert.match(refused.error, /the tests are broken/);
    await acted(await act(two.page, "Resume dev-a"));
    await one.page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    assert.equal((await answer({ from_agent: "dev-a", body: "hello" })).ok, true);

    const whom = (value) => (dialog) => dialog.getByRole("combobox").selectOption(value);
    await acted(await act(two.page, "Pause…", "we move the room", whom(`room:${room.room_id}`)));
    assert.equal((await answer({ from_agent: "dev-b", channel: room.channel, body: "hello" })).code, "paused");
    await acted(await act(two.page, "Resume room Check out"));
    await acted(await act(two.page, "Pause…", "lunch", whom("all")));
    assert.match((await answer({ from_agent: "dev-c", body: "hello" })).error, /lunch/);
    assert.match(await cli("app", "pauses"), /lunch/);
    await acted(await act(two.page, "Resume everybody"));
    await two.page.getByRole("heading", { name: "Paused and muted" }).waitFor({ state: "detached" });
    assert.equal((await answer({ from_agent: "dev-c", body: "hello" })).ok, true);
    assert.deepEqual([...one.wrong, ...two.wrong], []);
    await one.close();
    await two.close();
  });

  it("mutes an agent, gives it a budget, ends its session and retires it", async () => {
    await register("dev-d", { capabilities: ["go"], metadata: { harness: "codex" } });
    await hub.post("/v1/claims", { owner_agent_id: "dev-d", claim_key: "docs" });
    const { page, wrong, close } = await open("/ui/agents/dev-d");
    await page.getByText("codex").waitFor();
    await row(page, "Claims and file locks", "docs").waitFor();
    await acted(await act(page, "Mute", "for good"));
    assert.equal((await hub.get("/v1/mutes"))[0].until, null);
    await acted(await act(page, "Unmute dev-d"));
    await acted(await act(page, "Mute", "once a day is enough", (dialog) => dialog.getByRole("combobox").selectOption("3600")));
    await page.getByText("once a day is enough").waitFor();
    const mute = JSON.parse(await cli("app", "mutes", "--json"))[0];
    assert.equal(mute.reason, "once a day is enough");
    assert.equal(Date.parse(mute.until) - Date.parse(mute.since), 3_600_000);
    await acted(await act(page, "Unmute dev-d"));
    assert.deepEqual(JSON.parse(await cli("app", "mutes", "--json")), []);

    const chars = (n) => (dialog) => dialog.getByRole("spinbutton").fill(n);
    await acted(await act(page, "Budget", "", chars("20000")));
    await page.getByText("of 20,000").waitFor();
    assert.match(await cli("app", "budgets"), /20000/);
    await acted(await act(page, "Budget", "", chars("")));
    await page.getByText("of 20,000").waitFor({ state: "detached" });

    const refused = await act(page, "Retire dev-d", "not needed");
    await refused.getByRole("alert").waitFor();
    assert.equal(await refused.getByRole("textbox").inputValue(), "not needed"); // the words stay
    await press(refused.getByRole("button", { name: "Cancel" }));
    await acted(await act(page, "End session", "restart it, please"));
    await page.getByText("It has no session.").waitFor();
    assert.ok(!(await hub.agents()).includes("dev-d"));
    assert.match(await mail("dev-d"), /restart it, please/);
    await hub.restart(); // who has just acted is not gone; what the hub has heard since it began counts
    await page.getByText("not connected", { exact: true }).waitFor({ state: "detached" });
    await page.getByText("connected", { exact: true }).waitFor();
    await acted(await act(page, "Retire dev-d", "not needed"));
    await says(page, "dev-d is retired. Taken from it: 1 claim.");
    await page.getByText("It has no task, no claim and no file lock.").waitFor();
    assert.deepEqual(await hub.get("/v1/claims?active_only=true&claim_key=docs"), []);
    assert.deepEqual(wrong.filter((one) => !/409|ERR_|Failed to fetch/.test(one)), []); // the refusal, and the restart
    await close();
  });

  it("mutes a room: what agents post there wakes nobody, and what is said elsewhere does", async () => {
    const { page, wrong, close } = await open(`/ui/rooms/${room.room_id}`);
    await acted(await act(page, "Mute the room", "only results, please"));
    assert.equal((await hub.get("/v1/mutes"))[0].until, null);
    await page.getByText("The room is muted").waitFor();
    await page.getByText("only results, please").first().waitFor();
    assert.equal((await answer({ from_agent: "dev-b", channel: room.channel, body: "in the muted room" })).muted.reason, "only results, please");
    assert.match(await cli("app", "mutes"), /everybody +check-out/);
    assert.match(await cli("status"), /all in check-out/);
    await press(page.getByRole("button", { name: "Unmute everybody in Check out" }));
    await press(page.getByRole("dialog").getByRole("button", { name: "Unmute" }));
    await page.getByText("The room is muted").waitFor({ state: "detached" });
    assert.deepEqual(await hub.get("/v1/mutes"), []);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows what attention costs, and the history of an agent with older messages on demand", async () => {
    await register("talker");
    for (let i = 0; i < 130; i++) await hub.say(`word ${i} of many`, { from_agent: "talker" });
    await hub.say("for your eyes", { from_agent: "talker", to_agent: "dev-b", channel: undefined });
    await cli("poll", "--agent", "dev-b", "--timeout", "5");
    const { page, wrong, close } = await open("/ui/agents/talker");
    const entries = page.getByRole("list", { name: "History" }).getByRole("listitem");
    await row(page, "History", "for your eyes").getByRole("link", { name: "dev-b" }).waitFor();
    await row(page, "Others were given of it", "dev-b").getByRole("img", { name: /[0-9]+ characters in [0-9]+ messages/ }).waitFor();
    await hub.say("in the room", { from_agent: "talker", channel: room.channel });
    await cli("poll", "--agent", "reader", "--channel", room.channel, "--since-id", "0");
    const other = await open("/ui/agents/reader");
    await row(other.page, "By room", room.name).getByRole("img", { name: /[0-9]+ characters in [0-9]+ messages/ }).waitFor();
    await row(other.page, "By room", room.name).getByRole("link").click();
    await row(other.page, "Agents were given", "reader").getByRole("img", { name: /[0-9]+ characters in [0-9]+ messages/ }).waitFor();
    assert.deepEqual(other.wrong, []);
    await other.close();
    assert.equal(await entries.count(), 50);
    for (const count of [100, 132]) {
      await press(page.getByRole("button", { name: "Older messages" }));
      await eventually(`${count} messages`, async () => (await entries.count()) === count);
    }
    await page.getByText("word 0 of many").waitFor();
    await hub.say("one more", { from_agent: "talker" });
    await eventually("the new one first", async () => /one more/.test(await entries.first().textContent()));
    assert.equal(await entries.count(), 133);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows hostile texts as texts, in every field that agents write", async () => {
    const evil = `<img src=x onerror="window.pwned=1"> \u202eevil <b>bold</b> {{x}} ${"w".repeat(400)}`;
    await register("evil", { display_name: evil.slice(0, 60), capabilities: ["<b>cap</b>"], metadata: { "<b>harness</b>": evil } });
    const { id } = await task(evil, { from_agent: "evil", to_agent: "evil" });
    await change(id, "evil", { status: "working" });
    await hub.post("/v1/locks", { agent_id: "evil", file_path: `src/${evil.slice(0, 200)}`, metadata: { task_id: id } });
    await hub.post("/v1/runs", { title: evil.slice(0, 200), created_by: "evil" });
    await hub.say(evil, { from_agent: "evil", reply_to: id, channel: room.channel });
    const { page, wrong, close } = await open("/ui/tasks?q=evil", { viewport: { width: 375, height: 700 } });
    for (const path of ["/ui/tasks?q=evil", "/ui/tasks?tab=board&q=evil", "/ui/tasks?tab=runs", `/ui/tasks/${id}`, "/ui/leases?tab=locks&q=evil", "/ui/agents", "/ui/agents/evil", "/ui/agents/%3Cb%3Ex%3C%2Fb%3E"]) {
      await page.goto(hub.url + path);
      if (!path.includes("%3C")) await page.getByText("<U+202E>").first().waitFor();
      assert.equal(await page.locator("main bdi b, main bdi img, main img").count(), 0, path);
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} is too wide`);
    }
    assert.deepEqual(wrong.filter((one) => !/40[04]/.test(one)), []);
    await close();
  });

  for (const [width, height] of [[320, 568], [1280, 800], [3840, 2160]]) {
    it(`fits ${width} pixels`, async () => {
      const { page, wrong, close } = await open("/ui/tasks", { viewport: { width, height } });
      const { id } = await task("Fits");
      for (const path of ["/ui/tasks", "/ui/tasks?tab=board", "/ui/tasks?tab=runs", `/ui/tasks/${id}`, "/ui/leases", "/ui/leases?tab=locks", "/ui/agents", "/ui/agents/dev-a"]) {
        await page.goto(hub.url + path);
        await page.getByText("connected", { exact: true }).waitFor();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} is wider than ${width}`);
      }
      assert.deepEqual(wrong.filter((one) => !/40[04]/.test(one)), []);
      await close();
    });
  }
});
