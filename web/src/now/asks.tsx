import { useRef, useState } from "preact/hooks";
import { call } from "../api";
import { useKeys } from "../keys";
import { Link, to } from "../route";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Alert, Empty, wordsOf } from "../ui/said";
import { Line, Text, line } from "../ui/text";
import { Age, now, span } from "../ui/time";
import type { Ask } from "../wire";

const answer = (ask: Ask, text: string) => call("POST", `/v1/asks/${ask.ask_id}/answer`, { answer: text, by: "console" });

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

function Question({ ask, onRefused }: { ask: Ask; onRefused: (why: string) => void }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const send = async (words: string) => {
    setBusy(true);
    try {
      await answer(ask, words);
      setText("");
      onRefused("");
    } catch (error) {
      onRefused(wordsOf(error));
    }
    setBusy(false);
  };
  return (
    <Row class="ask" data-ask={ask.ask_id}>
      <p class="row">
        <Person id={ask.agent_id} />
        <span class="soft">
          <Age at={ask.created_at} /> ago
          {ask.room_id && (
            <>
              {" in "}
              <Link to={to("rooms", ask.room_id)}>
                <Line>{ask.room_id}</Line>
              </Link>
            </>
          )}
          {ask.blocks !== null && `, blocks #${ask.blocks}`}
        </span>
        <Deadline ask={ask} />
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
      <p>
        <Text>{ask.question || "(see the message)"}</Text>
      </p>
      <div class="row" role="group" aria-label={`Answers to ${line(ask.agent_id)}`}>
        {answers(ask).map((words, i) => (
          <button key={words} type="button" disabled={busy} data-answer={i + 1} title={`key ${i + 1}`} onClick={() => void send(words)}>
            <Line>{words}</Line>
          </button>
        ))}
        {!ask.permission && (
          <form
            class="row grow"
            onSubmit={(event) => {
              event.preventDefault();
              if (text.trim()) void send(text);
            }}
          >
            <input
              ref={field}
              data-words
              aria-label={`Answer to ${line(ask.agent_id)} in your words`}
              placeholder={ask.default === null ? "your words" : `without an answer: ${line(ask.default)}`}
              value={text}
              maxLength={16000}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <button type="submit" disabled={busy || !text.trim()}>
              Answer
            </button>
          </form>
        )}
      </div>
    </Row>
  );
}

// The question that a key answers: the one that has the focus, so that no key answers one that
// the person does not look at.
const chosen = () => document.activeElement?.closest<HTMLElement>("[data-ask]") ?? null;

function useAnswerKeys(): void {
  useKeys("Questions", [
    { keys: "q", what: "go to the first question", run: () => document.querySelector<HTMLElement>("[data-ask]")?.focus() },
    ...[1, 2, 3, 4].map((n) => ({
      keys: `${n}`,
      what: `take answer ${n} of the question with the focus`,
      run: () => chosen()?.querySelector<HTMLElement>(`[data-answer="${n}"]`)?.click(),
    })),
    { keys: "a", what: "answer it in your words", run: () => chosen()?.querySelector<HTMLElement>("[data-words]")?.focus() },
  ]);
}

const most = 100; // questions, until the person wants more

// Asks shows the open questions with their answers. What the hub refused of the last answer stays
// shown, also when its question has gone.
export function Asks({ asks }: { asks: Ask[] }) {
  const [refused, setRefused] = useState("");
  const [shown, setShown] = useState(most);
  useAnswerKeys();
  return (
    <section aria-labelledby="asks">
      <h2 id="asks">
        Questions to you {asks.length > 0 && <span class="count count-bad">{asks.length}</span>}
        {asks.length > 0 && (
          <span class="hint end">
            <kbd>q</kbd> then <kbd>1</kbd>–<kbd>4</kbd> answer
          </span>
        )}
      </h2>
      {asks.length === 0 && <Empty>No agent asks you anything.</Empty>}
      <ul class="asks">
        {asks.slice(0, shown).map((ask) => (
          <Question key={ask.ask_id} ask={ask} onRefused={setRefused} />
        ))}
      </ul>
      {asks.length > shown && (
        <button type="button" onClick={() => setShown(shown + most)}>
          Show more of the {asks.length - shown} others
        </button>
      )}
      <Alert>{refused}</Alert>
    </section>
  );
}
