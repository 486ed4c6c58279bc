// A team of any size that has worked for a while, with what agents really write: long names, code, addresses
// without a blank, paths, Hebrew, emoji, letters that cannot be seen. What it is made of is the same each time.

const names = [
  "lead", "api-dev", "pay-dev", "claude-code-7b699c19", "qa-1", "docs", "sec", "ops", "search-dev",
  "documentation-and-release-notes-writer", "m", "codex-cli-reviewer-of-the-payments-service-0123456789abcdef01234",
];

const rooms = [
  ["Checkout", "Carts, prices and what a customer pays"],
  ["Search and navigation", "https://intranet.example/boards/search-and-navigation?view=all&sort=updated_at&filter=open"],
  ["Payments_and_refunds_of_the_back_office_2026", ""],
  ["חיפוש וניווט", "כל מה שקשור לחיפוש"],
  ["📱 Mobile", "one topic ".repeat(12)],
  ["Ops", ""],
];

const address = "https://ci.example/builds/48213/artifacts/coverage/report.html?run=3f9d1c7e5b2a4860&token=none#src/checkout/cart/rounding/rounding_test.go";
const code = "func Round(cents int64, to int64) int64 {\n\tif to <= 0 { panic(\"rounding to nothing is a mistake of the caller and never one of the data\") }\n\treturn (cents + to/2) / to * to\n}";
const bodies = [
  "I looked at the parser and found that index 17 does not agree with the schema.",
  `The build failed, see ${address}`,
  `Done:\n\`\`\`go\n${code}\n\`\`\`\nTests pass.`,
  "בדקתי את העגלה, הכול עובד חוץ מהעיגול של 3 אגורות (TestRound).",
  "🎉🎉🎉 released 👩‍👩‍👧‍👦🏳️‍🌈",
  `sha256:${"3f9d1c7e5b2a4860".repeat(8)}`,
  "1. first\n2. second\n3. third\n\n- and a list\n- of more",
  "/home/sam/projects/shop/services/checkout/internal/cart/rounding/bankers_rounding_test.go:118:2: undefined: roundHalfToEven",
];

export const attachments = [
  { type: "diff_ref", path: "services/checkout/internal/cart/rounding/bankers_rounding_test.go", base: "main", head: "round-half-even", description: "the change" },
  { type: "code", language: "go", content: code },
  { type: "file_ref", path: "/home/sam/projects/shop/README.md", start_line: 3, end_line: 18 },
  { type: "json", content: { tests: 48, failed: 0, of: ["cart", "prices"] } },
  { type: "text", content: "http://198.51.100.7/picture.png <img src=http://198.51.100.7/x>", description: "an address that nobody may load" },
];

// nameOf is the name of the agent with a number. The first ones have names as people give them.
export const nameOf = (i) => names[i] ?? `agent-${String(i).padStart(3, "0")}`;

// team makes a team of n agents in a hub, and returns its rooms.
export async function team(hub, n) {
  const ids = Array.from({ length: n }, (_, i) => nameOf(i));
  const of = (i) => ids[i % n];
  await hub.post("/v1/projects", { name: "Web shop" });
  const made = [];
  for (const [name, topic] of rooms.slice(0, Math.max(2, Math.min(rooms.length, n / 2)))) {
    made.push(await hub.post("/v1/rooms", { project: "web-shop", name, topic, created_by: "lead", force: true, force_reason: "a test" }));
  }
  const [room] = made;
  await crowd(ids, (id, i) => hub.post("/v1/sessions", { agent_id: id, display_name: i % 4 === 1 ? `Developer of the ${id} service` : id, capabilities: ["go", "reviews-of-payments"], metadata: { harness: "claude-code" } }));
  const invite = await hub.post("/v1/invites", { project: "web-shop", room: room.room_id, role: "reviews what the others write, and says no", by: "lead", max_uses: 3 });
  await hub.post(`/v1/invites/${invite.code}/accept`, { agent_id: "invited", harness: "codex" });
  await crowd(ids, (id, i) => hub.say(bodies[i % bodies.length], { from_agent: id, channel: made[i < 12 ? 0 : i % made.length].channel }));
  for (let i = 0; i < 24; i++) {
    // The hub slows down agents that talk and decide nothing.
    if (i % 5 === 0) await hub.post("/v1/decisions", { room_id: made[0].room_id, title: `Point ${i}`, by: of(i) });
    await hub.say(bodies[i % bodies.length], { from_agent: of(i * 5), channel: made[i % 3 === 0 ? i % made.length : 0].channel, ...(i % 6 === 1 && { thread_id: "naming-of-the-rounding-rules" }) });
  }
  await hub.say("for you alone", { from_agent: of(1), to_agent: of(2), channel: room.channel });
  await hub.say("Look at my change", { from_agent: of(1), channel: room.channel, attachments });
  // They read what was said, so that the hub tells how much they were given.
  await crowd(ids.slice(0, 12), (id) => hub.get(`/v1/events?agent_id=${encodeURIComponent(id)}&channel=${encodeURIComponent(room.channel)}&since_id=0&timeout=0&limit=20`));
  await work(hub, of, n, made);
  await ask(hub, of, n, made);
  await know(hub, of, room);
  return made;
}

// work gives the agents tasks that wait for each other, claims and file locks.
async function work(hub, of, n, made) {
  for (let run = 0; run < Math.min(n, 24) / 6; run++) {
    const tasks = Array.from({ length: 8 }, (_, i) => ({
      name: `t${i}`,
      title: ["Round half to even", "Move the prices of all shops into the new service_of_prices_and_currencies without a stop", `Read ${address}`, "עגלה"][i % 4],
      details: bodies[i % bodies.length],
      assignee: of(run * 8 + i),
      ...(i > 0 && { after: [`t${i < 5 ? 0 : i - 1}`] }),
    }));
    await hub.post("/v1/runs", { title: run ? `Release ${run}` : "Take the rounding out of the cart and into the service of prices", created_by: "lead", room_id: made[run % made.length].room_id, tasks });
  }
  for (const task of (await hub.get("/v1/tasks?limit=100")).filter((one) => one.ready).slice(0, 2)) await hub.post(`/v1/tasks/${task.task_id}`, { agent_id: task.assignee, status: "working" });
  // In a big team many wait for one, and some for those.
  if (n > 40) {
    const tasks = Array.from({ length: 90 }, (_, i) => ({ name: `w${i}`, title: `Part ${i}`, assignee: of(100 + i), ...(i > 0 && { after: [`w${i < 60 ? 0 : i - 59}`] }) }));
    await hub.post("/v1/runs", { title: "Many parts", created_by: "lead", room_id: made[0].room_id, tasks });
  }
  await circle(hub, of, made[0]);
  await crowd(Array.from({ length: n }), (_, i) => hub.post("/v1/claims", { owner_agent_id: of(i), claim_key: i % 3 ? `part-${i}` : `the_whole_service_of_prices_and_currencies_${i}`, ttl_sec: 3600 }));
  await crowd(Array.from({ length: n }), (_, i) => hub.post("/v1/locks", { agent_id: of(i), file_path: `/home/sam/projects/shop/services/checkout/internal/cart/rounding/file_${i}_of_the_rounding_rules.go`, ttl_sec: 3600 }));
}

// circle lets agents wait for each other by their tasks.
async function circle(hub, of, room) {
  const ids = [];
  for (const i of [0, 1, 2]) {
    const { id } = await hub.say(`Half ${i} of a circle`, { kind: "task", from_agent: "lead", channel: room.channel });
    await hub.post(`/v1/tasks/${id}`, { agent_id: of(i), status: "working" });
    ids.push(id);
  }
  await hub.post(`/v1/tasks/${ids[0]}`, { agent_id: of(0), blocked_by: [ids[1]] });
  await hub.post(`/v1/tasks/${ids[1]}`, { agent_id: of(1), blocked_by: [ids[2]] });
  await hub.command("claim", "the parser", "--agent", of(0));
  const wait = { owner_agent_id: of(2), claim_key: "the parser", wait_sec: 120 };
  fetch(`${hub.url}/v1/claims`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wait) }).catch(() => {}); // it ends with the hub
}

async function ask(hub, of, n, made) {
  const questions = [
    { question: "Round half up, as the bank does?", options: ["yes", "no"] },
    { question: `May I write it so?\n\`\`\`go\n${code}\n\`\`\``, options: ["write it", "leave it"] },
    { question: `What do you say of ${address}?` },
    { question: "איזה צבע?", options: ["כחול", "אדום"] },
    { question: "Deploy?", options: ["deploy now, and tell all of the customers that the prices of the shops are rounded from now on", "wait"], default: "wait", deadline_sec: 1800 },
  ];
  for (let i = 0; i < Math.min(n, 60); i++) {
    const { question, ...rest } = questions[i % questions.length];
    await hub.post("/v1/asks", { agent_id: of(i), room_id: made[i % made.length].room_id, question: i < questions.length ? question : `${i}: ${question}`, ...rest });
  }
}

// know gives the room decisions, artifacts and memory.
async function know(hub, of, room) {
  const at = { room_id: room.room_id };
  for (const title of ["Money is in cents", `Follow ${address}`, "כסף בסנטים"]) await hub.post("/v1/decisions", { ...at, title, note: bodies[2], by: of(0) });
  for (const version of [1, 2, 3]) await hub.post("/v1/artifacts", { ...at, title: "plan_of_the_release_of_the_service_of_prices_and_currencies.md", kind: "doc", by: of(1), body: `# Plan ${version}\n\n${bodies.slice(0, 2 + version).join("\n")}` });
  await hub.post("/v1/memory", { ...at, key: "rounding", text: bodies[2], by: of(0), tags: ["money", "\u034f".repeat(38), "W".repeat(60), "תג", "rounding-rules-of-the-bank"] });
  await hub.post("/v1/memory", { ...at, key: "the_key_of_a_memory_that_is_one_long_word_of_nearly_eighty_characters_in_all_ok", text: address, by: of(1) });
}

// crowd makes things, forty at a time.
async function crowd(list, make) {
  for (let i = 0; i < list.length; i += 40) await Promise.all(list.slice(i, i + 40).map((one, k) => make(one, i + k)));
}
