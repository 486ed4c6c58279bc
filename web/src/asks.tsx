import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Refused, call } from "./api";
import { Time } from "./time";
import type { Ask } from "./wire";

// What the hub refused of the last answer; empty if it took it.
const refused = signal("");

async function answer(ask: Ask, text: string): Promise<boolean> {
  try {
    await call("POST", `/v1/asks/${ask.ask_id}/answer`, { answer: text, by: "console" });
    refused.value = "";
    return true;
  } catch (error) {
    refused.value = error instanceof Refused ? [error.message, error.fix].filter(Boolean).join(": ") : "The hub did not answer. Try again.";
    return false;
  }
}

// A question names its answers; a permission prompt of a harness takes two alone.
const answers = (ask: Ask) => (ask.permission ? ["allow", "deny"] : ask.options);

function Question({ ask }: { ask: Ask }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const send = async (words: string) => {
    setBusy(true);
    if (await answer(ask, words)) setText("");
    setBusy(false);
  };
  return (
    <li class="ask">
      <p>
        <Time at={ask.created_at} /> <bdi>{ask.agent_id}</bdi>: <bdi class="text">{ask.question || "(see the message)"}</bdi>
      </p>
      <div class="row" role="group" aria-label={`Answers to ${ask.agent_id}`}>
        {answers(ask).map((words) => (
          <button key={words} type="button" disabled={busy} onClick={() => void send(words)}>
            <bdi>{words}</bdi>
          </button>
        ))}
        {!ask.permission && (
          <form
            class="row"
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
    </li>
  );
}

// Asks shows the open questions with their answers.
export function Asks({ asks }: { asks: Ask[] }) {
  return (
    <section aria-labelledby="asks">
      <h2 id="asks">Questions to you</h2>
      {asks.length === 0 && <p>No agent asks you anything.</p>}
      <ul>
        {asks.map((ask) => (
          <Question key={ask.ask_id} ask={ask} />
        ))}
      </ul>
      {refused.value && <p role="alert">{refused.value}</p>}
    </section>
  );
}
