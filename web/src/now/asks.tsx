import { useState } from "preact/hooks";
import { call } from "../api";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Alert, Empty, wordsOf } from "../ui/said";
import { Line, Text } from "../ui/text";
import { Age } from "../ui/time";
import type { Ask } from "../wire";

const answer = (ask: Ask, text: string) => call("POST", `/v1/asks/${ask.ask_id}/answer`, { answer: text, by: "console" });

// A question names its answers; a permission prompt of a harness takes two alone.
const answers = (ask: Ask) => (ask.permission ? ["allow", "deny"] : ask.options);

function Question({ ask, onRefused }: { ask: Ask; onRefused: (why: string) => void }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
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
    <Row class="ask">
      <p>
        <Person id={ask.agent_id} />{" "}
        <span class="soft">
          <Age at={ask.created_at} /> ago
        </span>
      </p>
      <p>
        <Text>{ask.question || "(see the message)"}</Text>
      </p>
      <div class="row" role="group" aria-label={`Answers to ${ask.agent_id}`}>
        {answers(ask).map((words) => (
          <button key={words} type="button" disabled={busy} onClick={() => void send(words)}>
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
              aria-label={`Answer to ${ask.agent_id} in your words`}
              placeholder={ask.default === null ? "your words" : `without an answer: ${ask.default}`}
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

// Asks shows the open questions with their answers. What the hub refused of the last answer stays
// shown, also when its question has gone.
export function Asks({ asks }: { asks: Ask[] }) {
  const [refused, setRefused] = useState("");
  return (
    <section aria-labelledby="asks">
      <h2 id="asks">Questions to you</h2>
      {asks.length === 0 && <Empty>No agent asks you anything.</Empty>}
      <ul class="rows">
        {asks.map((ask) => (
          <Question key={ask.ask_id} ask={ask} onRefused={setRefused} />
        ))}
      </ul>
      <Alert>{refused}</Alert>
    </section>
  );
}
