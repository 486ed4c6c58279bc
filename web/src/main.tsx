import { effect } from "@preact/signals";
import { render } from "preact";
import { drafts } from "./drafts";
import { Frame } from "./frame/frame";
import { follow } from "./live";
import { enter, pass, why } from "./pass";
import { forgetAll } from "./read";
import "./settled";
import "./style/tokens.css";
import "./style/base.css";
import "./style/frame.css";
import "./style/parts.css";
import { Command } from "./ui/said";
import { Text } from "./ui/text";

// Kept shows the words that were not sent, so that they can be taken to another tab.
function Kept() {
  const words = [...drafts.value.values()].filter((draft) => draft.text.trim());
  if (words.length === 0) return null;
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">What you had written and not sent</h2>
      <p class="soft">It is back in its place when this tab has a pass again.</p>
      <ul class="rows">
        {words.map((draft, i) => (
          <li key={i} class="item">
            <Text>{draft.text}</Text>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Closed() {
  return (
    <main class="closed">
      <h1>hubcli</h1>
      {why.value && (
        <p class="alert" role="alert">
          {why.value}
        </p>
      )}
      <p>
        This page needs a pass. In a terminal of this machine, run <Command>hubcli app open</Command> and open the address that
        it prints.
      </p>
      <Kept />
    </main>
  );
}

const App = () => (pass.value ? <Frame /> : <Closed />);

// Each pass has one follower, which ends with it.
let stop = new AbortController();
effect(() => {
  stop.abort();
  stop = new AbortController();
  if (pass.value) void follow(stop.signal);
  else {
    forgetAll();
    document.title = "hubcli";
  }
});

addEventListener("hashchange", () => void enter());
void enter().then(() => render(<App />, document.getElementById("app")!));
