// The places of the console, for tests that look at each of them.

// tabs are the pages and their tabs, which every hub has.
export const tabs = [
  "now", "rooms", "tasks", "tasks?tab=board", "tasks?tab=runs", "leases", "leases?tab=locks", "agents",
  "knowledge", "knowledge?tab=artifacts", "knowledge?tab=memory", "knowledge?q=the", "health", "settings",
  ...["invites", "adapters", "spawns", "prompts", "notify", "tools", "capsules", "connections", "access"].map((tab) => `settings?tab=${tab}`),
];

// things are the pages of one thing each, of what a hub has in a room.
export async function things(hub, room) {
  const first = async (path) => (await hub.get(path))[0];
  const places = [`rooms/${room.room_id}`, `rooms/${room.room_id}/at`, `settings/${room.room_id}`];
  const message = await first(`/v1/log?room_id=${room.room_id}&limit=1`);
  if (message) places.push(`knowledge/${message.id}`);
  const thread = (await hub.get(`/v1/log?room_id=${room.room_id}&limit=1000`)).find((one) => one.thread_id);
  if (thread) places.push(`rooms/${room.room_id}?thread=${encodeURIComponent(thread.thread_id)}`);
  const task = await first("/v1/tasks?limit=1");
  if (task) places.push(`tasks/${task.task_id ?? task.id}`);
  const agent = await first("/v1/agents?details=true");
  if (agent) places.push(`agents/${agent.agent_id}`);
  const decision = await first(`/v1/decisions?room_id=${room.room_id}&limit=1`);
  if (decision) places.push(`knowledge/${decision.decision_id}`);
  const artifacts = await hub.get(`/v1/artifacts?room_id=${room.room_id}&limit=100`);
  const later = artifacts.find((one) => one.version > 1) ?? artifacts[0];
  if (later) places.push(`knowledge/${later.artifact_id}`);
  const earlier = later && artifacts.find((one) => one.title === later.title && one.version < later.version);
  if (earlier) places.push(`knowledge/${later.artifact_id}?with=${earlier.artifact_id}`);
  const memory = await first(`/v1/memory?room_id=${room.room_id}&limit=1`);
  if (memory) places.push(`knowledge/${memory.memory_id}`);
  return places;
}

// come waits until a page has been read and drawn.
export async function come(page, url) {
  await page.goto(url);
  await settled(page);
}

export async function settled(page) {
  await page.locator("main h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("main .pending, main [aria-busy=true]"));
}

// go leads to a page as a link does, without loading the console anew.
export async function go(page, path) {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await settled(page);
}
