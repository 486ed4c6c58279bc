// The witness stands beside a page and judges each answer that the page sends, by what was to be
// seen. It knows nothing of how the page is made but its rows, buttons and fields. It runs in the
// page, before the page's own code, by the page's clock.

// witness is given to the page as a script. What it finds is in window.witness.
export function witness() {
  const rest = 700; // ms for which a person must have seen what a press decides
  const slack = 5; // px by which a button may move under a key
  const most = 4; // acts of which the answer may still be under way: the page signs it first
  const found = { wrong: [], log: [] };
  window.witness = found;
  const history = new WeakMap(); // of buttons: where they were since when
  const text = (row) => row.querySelector("p:not(.row):not(:has(.badge)), .body")?.textContent ?? "";
  const buttonAt = (one) => (one.target instanceof Element ? one.target.closest("button") : null);

  let acts = []; // of the person, the last ones, each until it has sent an answer
  let keys = []; // the last ones, and what had the focus when they were pressed
  let press = null; // of the pointer, the last one
  let held = null; // has the focus
  let gone = false; // it was taken away; until the next click or Tab
  let acted = 0; // when the person last pressed something
  const reached = new WeakMap(); // whether the person brought the focus there
  let pointer = { inside: false, at: 0 }; // the list of questions; it moved there last
  let list = { ids: [], since: null }; // the questions, and since when the person is at work in them

  // keeps looks whether questions go or come before others while the person is at work in the list.
  function keeps(at) {
    const rows = [...document.querySelectorAll("[data-ask]")];
    const ids = rows.map((row) => row.dataset.ask);
    const part = rows[0]?.parentElement;
    const works = part && (part.contains(document.activeElement) || (pointer.inside && at - pointer.at < 25_000));
    const since = works ? (list.since ?? at) : null;
    const away = acts.at(-1)?.button?.textContent === "Put away" ? acts.at(-1).ask : "";
    const before = list.ids.filter((id) => id !== away || ids.includes(id));
    const moved = before.findIndex((id, i) => ids[i] !== id);
    if (since !== null && at - since > 200 && moved >= 0 && before.length < 100) {
      found.wrong.push(`${before[moved]} was not left where it was: ${before} became ${ids}`);
    }
    list = { ids, since };
  }

  function look() {
    if (held && document.activeElement === document.body && !held.isConnected) {
      gone ||= acts.at(-1)?.button !== held; // unless the person has pressed it
      held = null;
    }
    const at = performance.now();
    keeps(at);
    for (const button of document.querySelectorAll("[data-ask] button")) {
      const { left, top, right, bottom } = button.getBoundingClientRect();
      const past = history.get(button) ?? [];
      if (past.at(-1)?.at === at) past.pop(); // of one moment the end alone is seen
      const last = past.at(-1);
      const row = button.closest("[data-ask]");
      const about = `${row.dataset.ask} ${text(row)} ${button.textContent}`;
      if (last && last.left === left && last.top === top && last.right === right && last.bottom === bottom && last.about === about) continue;
      past.push({ at, left, top, right, bottom, about });
      while (past.length > 1 && past[1].at <= at - rest) past.shift();
      history.set(button, past);
    }
  }

  // within returns what was seen of a button in the time that a person needs; null: it was not
  // there all that time.
  function within(button, at) {
    const past = history.get(button) ?? [];
    let first = -1;
    past.forEach((one, i) => one.at <= at - rest && (first = i));
    return first < 0 ? null : past.slice(first);
  }

  // placed says whether a button was where it is for as long as a person needs to see it. point is
  // that of the pointer; null: a key presses it.
  function placed(button, at, point) {
    const seen = within(button, point && press?.on === button ? press.at : at);
    if (!seen) return "the button had only just come";
    const last = seen.at(-1);
    for (const one of seen) {
      if (one.about !== last.about) return `the button was about ${one.about}`;
      const there = point ? point.x >= one.left - 1 && point.x <= one.right + 1 && point.y >= one.top - 1 && point.y <= one.bottom + 1 : Math.abs(one.left - last.left) <= slack && Math.abs(one.top - last.top) <= slack;
      if (!there) return `the button had only just moved there: ${JSON.stringify({ at, point, seen })}`;
    }
    return "";
  }

  // bare says whether a single key decides: one to which nothing of the person has led.
  function bare(button, at, { key, focus }) {
    if (focus !== button || !reached.get(button)) return true;
    if (!/^\d$/.test(key)) return false;
    for (const one of keys.slice(0, -1).reverse()) {
      if (one.key === key && at - one.at >= rest) return false; // pressed before, and the focus has not left it since
      if (one.focus !== button) return true;
    }
    return true;
  }

  // note keeps what an act would decide, and what is wrong with that, before the page hears of it.
  function note(one, button, deciding, byKey) {
    look();
    const at = one.timeStamp;
    const row = (button ?? document.activeElement)?.closest?.("[data-ask]") ?? null;
    const field = row?.querySelector("[data-words]");
    const act = { button, ask: row?.dataset.ask, said: row ? text(row) : "", answer: null, why: "" };
    if (!row) act.why = "the person was outside of the questions";
    else if (!deciding) act.why = `the key ${one.key} has no button`;
    else {
      act.answer = deciding.textContent.replace(/^Answer /, "");
      if (deciding.type === "submit" || deciding.textContent === "Send my words as they are") act.answer = field.value;
      act.why = placed(deciding, at, byKey ? null : { x: one.clientX, y: one.clientY });
      if (byKey && gone) act.why = "what had the focus was taken away, and the key was for that";
      if (byKey && deciding.dataset.prompt !== undefined && bare(deciding, at, keys.at(-1) ?? {})) act.why = `one bare key has decided a permission prompt: ${JSON.stringify({ at, reached: reached.get(deciding), keys: keys.map(({ key, at, focus }) => [key, at, focus.textContent.slice(0, 20)]) })}`;
    }
    return act;
  }

  const keep = (act) => (acts = [...acts, act].slice(-most));

  addEventListener("focusout", look, true);
  addEventListener("pointermove", ({ target, timeStamp }) => {
    look(); // it may have been still for long
    if (target.closest(".asks")) pointer = { inside: true, at: timeStamp };
  }, true);
  addEventListener("pointerover", ({ target }) => target.closest(".asks") || (pointer = { inside: false, at: 0 }), true); // or the page has moved
  addEventListener("focusin", ({ target }) => {
    held = target.matches("h1, main") ? null : target;
    reached.set(target, performance.now() - acted < 1);
  }, true);
  addEventListener("pointerdown", (one) => {
    gone = false;
    acted = one.timeStamp;
    press = { at: one.timeStamp, on: buttonAt(one) };
  }, true);
  addEventListener("keydown", (one) => {
    look();
    if (one.key === "Tab") gone = false;
    acted = one.timeStamp;
    keys = [...keys, { key: one.key, at: one.timeStamp, focus: document.activeElement }].slice(-20);
    const digit = /^\d$/.test(one.key) ? document.activeElement?.closest("[data-ask]")?.querySelector(`[data-answer="${one.key}"]`) : null;
    keep({ ...note(one, null, digit ?? null, true), key: true });
  }, true);
  addEventListener("click", (one) => {
    const byKey = one.detail === 0;
    const act = note(one, buttonAt(one), buttonAt(one), byKey);
    if (byKey && acts.at(-1)?.key) acts.pop(); // it is the same act
    keep(act);
  }, true);
  for (const name of ["scroll", "resize"]) addEventListener(name, look, true);
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

  // judge says what is wrong with an answer, and takes the act away that has meant it.
  function judge(id, answer) {
    const means = (act) => (act.ask !== id ? `the person was in ${act.ask}` : act.answer?.trim() !== answer.trim() && !act.why ? `the person said ${act.answer}` : act.why);
    const meant = acts.find((act) => means(act) === "");
    const last = meant ?? acts.at(-1);
    acts = acts.filter((act) => act !== last);
    return { why: last ? means(last) : "nobody did anything", said: last?.said ?? "" };
  }

  const send = window.fetch;
  window.fetch = function (address, init) {
    const id = /^\/v1\/asks\/(ask_\w+)\/answer$/.exec(String(address))?.[1];
    if (id && init?.method === "POST") {
      const body = JSON.parse(typeof init.body === "string" ? init.body : new TextDecoder().decode(init.body));
      const { why, said } = judge(id, body.answer);
      found.log.push({ id, answer: body.answer, said });
      if (why || !body.digest) found.wrong.push(`${id} was answered ${JSON.stringify(body.answer)}: ${why || "without a digest"}`);
    }
    return send.call(this, address, init);
  };
}
