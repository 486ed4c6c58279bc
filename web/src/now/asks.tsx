import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Refused } from "../api";
import { lose, useKeys } from "../keys";
import { rest } from "../settled";
import { Body } from "../ui/body";
import { Person } from "../ui/person";
import { RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Alert, Empty, wordsOf } from "../ui/said";
import { Line, Text, line } from "../ui/text";
import { Age, now, span } from "../ui/time";
import type { Ask } from "../wire";
import { answer, arrange, draft, draftFor, drafts, learn, mayTakeBack, putAway, recall, shown, takeBack, type Shown } from "./questions";

// A question names its answers; a permission prompt of a harness takes two alone.
const answers = (ask: Ask) => (ask.permission ? ["allow", "deny"] : ask.options);

// What becomes of a question that nobody answers.
function Deadline({ ask }: { ask: Ask }) {
  if (!ask.deadline_at) return null;
  const left = Date.parse(ask.deadline_at) - now.value;
  return (
    <span class={left < 60_000 ? "red" : "warn"}>
      {left > 0 ? `${span(left)} left` : "time is up"}
      {ask.default !== null && (
        <>
          , then: <Line>{ask.default}</Line>
        </>
      )}
    </span>
  );
}

// Doubt asks whether words that are nearly an option are meant as the option.
function Doubt({ words, near, send }: { words: string; near: string[]; send: (words: string, asTheyAre: boolean) => void }) {
  return (
    <p class="row doubt" role="alert">
      <span>
        That is no option, but nearly one. Did you mean <b><Line>{near[0]!}</Line></b>?
      </span>
      {near.map((choice) => (
        <button key={choice} type="button" data-about={line(words)} onClick={() => send(choice, false)}>
          Answer <Line>{choice}</Line>
        </button>
      ))}
      <button type="button" class="quiet" data-about={line(words)} onClick={() => send(words, true)}>
        Send my words as they are
      </button>
    </p>
  );
}

// Closed says how a question ended that is still shown. It takes the place of the answers.
function Closed({ row }: { row: Shown }) {
  const how = row.ended || "no longer open";
  return (
    <span class="ended cut" role="status" title={line(how)}>
      <Line>{how}</Line>
    </span>
  );
}

function Question({ row, onRefused }: { row: Shown; onRefused: (why: string) => void }) {
  const { ask, key } = row;
  const [busy, setBusy] = useState(false);
  const [near, setNear] = useState<string[]>([]);
  const item = useRef<HTMLDivElement>(null);
  const text = draftFor(key);
  const open = row.ended === null;
  const whole = () => item.current?.closest<HTMLElement>("[data-ask]");
  const height = useRef(0); // that it had when it was open, so that what is below it stays where it is
  height.current = open ? 0 : height.current || (whole()?.offsetHeight ?? 0);
  const was = useRef(false); // the focus is on a button of it
  was.current = document.activeElement?.matches("button") === true && whole()?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (open || !was.current || document.activeElement !== document.body) return;
    whole()?.focus({ preventScroll: true }); // it stays, but it was not the person who came here
    lose();
  }, [open]);
  const send = async (words: string, asTheyAre = false) => {
    if (busy || !open) return;
    // The focus stays in the question when its buttons go, so that no key goes elsewhere.
    if (was.current || (whole()?.contains(document.activeElement) && document.activeElement?.matches("button"))) whole()?.focus({ preventScroll: true });
    setBusy(true);
    try {
      await answer(row, words, asTheyAre);
      setNear([]);
      onRefused("");
    } catch (error) {
      const meant = error instanceof Refused && error.code === "answer_unclear" ? error.detail["near"] : null;
      setNear(Array.isArray(meant) ? meant.map(String) : []);
      onRefused(meant ? "" : wordsOf(error));
    }
    setBusy(false);
  };
  const undo = async () => {
    if (busy) return;
    setBusy(true);
    whole()?.focus({ preventScroll: true });
    try {
      await takeBack(row);
      onRefused("");
    } catch (error) {
      onRefused(wordsOf(error));
    }
    setBusy(false);
  };
  return (
    <Row class={open ? "ask" : "ask over"} data-ask={ask.ask_id} data-open-ask={open || undefined} style={open ? undefined : { minBlockSize: `${height.current}px` }}>
      <p class="row">
        <Person id={ask.agent_id} />
        <span class="soft">
          <Age at={ask.created_at} /> ago
          {ask.room_id && (
            <>
              {" in "}
              <RoomName id={ask.room_id} />
            </>
          )}
          {ask.blocks !== null && `, blocks #${ask.blocks}`}
        </span>
        {open && <Deadline ask={ask} />}
      </p>
      {ask.permission && (
        <p>
          <span class="badge badge-warn">permission</span> may use <b><Line>{ask.permission.tool}</Line></b>
          {ask.permission.folder && (
            <>
              {" in "}
              <code>
                <Line>{ask.permission.folder}</Line>
              </code>
            </>
          )}
        </p>
      )}
      {/* What is to be allowed is shown whole, and as it is: signs of code may be part of a command. */}
      {ask.permission ? (
        <p>
          <Text>{ask.question || "(see the message)"}</Text>
        </p>
      ) : (
        <Body text={ask.question || "(see the message)"} />
      )}
      <div class="row" role="group" aria-label={`Answers to ${line(ask.agent_id)}`} ref={item}>
        {open ? (
          answers(ask).map((words, i) => (
            <button
              key={words}
              type="button"
              disabled={busy}
              data-answer={i + 1}
              data-prompt={ask.permission ? "" : undefined}
              data-about={key}
              title={ask.permission ? `key ${i + 1}, then Enter` : `key ${i + 1}`}
              onClick={() => void send(words)}
            >
              <Line>{words}</Line>
            </button>
          ))
        ) : (
          <Closed row={row} />
        )}
        {!ask.permission && (
          <form
            class="row grow"
            onSubmit={(event) => {
              event.preventDefault();
              if (text.trim()) void send(text);
            }}
          >
            <input
              data-words
              aria-label={`Answer to ${line(ask.agent_id)} in your words`}
              placeholder={ask.default === null ? "your words" : `without an answer: ${line(ask.default)}`}
              value={text}
              maxLength={16000}
              onInput={(event) => {
                draft(key, event.currentTarget.value);
                setNear([]);
              }}
            />
            {open && (
              <button type="submit" data-about={key} disabled={busy || !text.trim()}>
                Answer
              </button>
            )}
          </form>
        )}
        {mayTakeBack(row, now.value) && (
          <button type="button" data-about={key} data-take-back disabled={busy} title="while no agent has read your answer" onClick={() => void undo()}>
            Take back
          </button>
        )}
        {!open && (
          <button type="button" data-about={key} class="quiet" title={text ? "your words are kept here until then" : undefined} onClick={() => putAway(key)}>
            Put away
          </button>
        )}
      </div>
      {open && near.length > 0 && <Doubt words={text} near={near} send={(words, asTheyAre) => void send(words, asTheyAre)} />}
    </Row>
  );
}

// The question that a key answers: the one that has the focus, so that no key answers one that
// the person does not look at.
const chosen = () => document.activeElement?.closest<HTMLElement>("[data-ask]") ?? null;

const none = { button: null, at: 0 };
let armed: { button: HTMLElement | null; at: number } = none;
const disarm = () => (armed = none);

// take presses an answer by its number. Of a permission prompt a first key only goes to it: Enter
// decides, or the same key after a moment, if the focus has not left it.
function take(n: number, event: KeyboardEvent): void {
  const button = chosen()?.querySelector<HTMLElement>(`[data-answer="${n}"]`);
  if (!button || event.repeat) return;
  const again = armed.button === button && document.activeElement === button && event.timeStamp - armed.at >= rest;
  if (button.dataset["prompt"] === undefined || again) {
    disarm();
    button.click();
    return;
  }
  if (armed.button !== button) armed = { button, at: event.timeStamp };
  button.focus();
  button.addEventListener("blur", disarm, { once: true });
}

function useAnswerKeys(): void {
  useKeys("Questions", [
    { keys: "q", what: "go to the first question", run: () => document.querySelector<HTMLElement>("[data-open-ask]")?.focus() },
    ...[1, 2, 3, 4].map((n) => ({
      keys: `${n}`,
      what: `take answer ${n} of the question with the focus; of a permission prompt Enter confirms it`,
      run: (event: KeyboardEvent) => take(n, event),
    })),
    { keys: "a", what: "answer it in your words", run: () => chosen()?.querySelector<HTMLElement>("[data-words]")?.focus() },
  ]);
}

const most = 100; // questions, until the person wants more
const still = 30_000; // ms without a move, after which the pointer is not at work

// useAttention tells whether the person is at work in a part of the page: the focus is in it, or the
// pointer moves in it.
function useAttention() {
  const part = useRef<HTMLElement>(null);
  const [, look] = useState(0);
  const [inside, setInside] = useState(false);
  const moved = useRef(0);
  const on = {
    ref: part,
    onPointerMove: () => {
      moved.current = performance.now();
      setInside(true);
    },
    onPointerLeave: () => setInside(false),
    onFocusIn: () => look((n) => n + 1),
    onFocusOut: () => setTimeout(() => look((n) => n + 1)),
  };
  now.value; // it is looked at again with every age
  return { attends: part.current?.contains(document.activeElement) === true || (inside && performance.now() - moved.current < still), on };
}

// Asks shows the open questions with their answers. What the hub refused of the last answer stays
// shown, also when its question has gone.
export function Asks({ asks }: { asks: Ask[] }) {
  const [refused, setRefused] = useState("");
  const [limit, setLimit] = useState(most);
  const list = useRef<HTMLUListElement>(null);
  const { attends, on } = useAttention();
  useAnswerKeys();
  const rows = shown.value;
  const known = useRef<ReadonlySet<string> | null>(null); // when the person began to attend
  const backs = rows.filter((row) => mayTakeBack(row, now.value)).length; // they stay as long as the button does
  useEffect(() => {
    const back = new Set(shown.peek().filter((row) => mayTakeBack(row, now.peek())).map((row) => row.key));
    shown.value = arrange(shown.peek(), asks, (key) => attends || draftFor(key) !== "" || back.has(key));
    void learn();
  }, [asks, attends, drafts.value, backs]);
  useEffect(() => void recall(), []);
  if (!attends) known.current = null;
  else known.current ??= new Set(rows.map((row) => row.key));
  const fresh = rows.filter((row) => row.ended === null && known.current && !known.current.has(row.key));
  const toFresh = () => list.current?.querySelector<HTMLElement>(`[data-ask="${fresh[0]?.ask.ask_id ?? ""}"]`)?.scrollIntoView({ block: "nearest" });
  return (
    <section aria-labelledby="asks" {...on}>
      <h2 id="asks" tabIndex={-1}>
        Questions to you {asks.length > 0 && <span class="count count-bad">{asks.length}</span>}
        <span role="status">
          {fresh.length > 0 && (
            <button type="button" data-look class="quiet small come" onClick={toFresh}>
              {fresh.length} new, at the end
            </button>
          )}
        </span>
        {asks.length > 0 && (
          <span class="hint end">
            <kbd>q</kbd> then <kbd>1</kbd>–<kbd>4</kbd> answer
          </span>
        )}
      </h2>
      <ul class="asks" ref={list}>
        {rows.slice(0, limit).map((row) => (
          <Question key={row.key} row={row} onRefused={setRefused} />
        ))}
      </ul>
      {asks.length === 0 && <Empty>No agent asks you anything.</Empty>}
      {rows.length > limit && (
        <button type="button" data-look onClick={() => setLimit(limit + most)}>
          Show more of the {rows.length - limit} others
        </button>
      )}
      <Alert>{refused}</Alert>
    </section>
  );
}
