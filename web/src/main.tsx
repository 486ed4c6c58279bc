import { effect } from "@preact/signals";
import { render } from "preact";
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
