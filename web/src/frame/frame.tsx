import { useEffect, useState } from "preact/hooks";
import icon from "../icon.svg";
import { useKeys } from "../keys";
import { connected, hangs, since } from "../live";
import { pages } from "../pages";
import { impostor } from "../proof";
import { useRead } from "../read";
import { Link, go, place, to } from "../route";
import { Heading, title } from "../ui/heading";
import { Outcome } from "../ui/outcome";
import { step } from "../ui/rows";
import { Command } from "../ui/said";
import { line } from "../ui/text";
import { clockOf } from "../ui/time";
import type { Ask } from "../wire";
import { Help } from "./help";
import { useNotify } from "./notify";
import { theme, themes } from "./theme";

function Nowhere() {
  return (
    <>
      <Heading title="Nothing is here" />
      <p class="empty">
        The console has no page at <code>/ui/{line(place.value.path)}</code>. <Link to={to("now")}>Go to Now</Link>, or back.
      </p>
    </>
  );
}

const pressed = () => document.querySelector<HTMLElement>("main [data-search]")?.focus();

function useFrameKeys(help: () => void): void {
  useKeys("Go to", [
    ...pages.map((page) => ({ keys: "g " + page.key, what: page.label, run: () => go(to(page.name)) })),
  ]);
  useKeys("Everywhere", [
    { keys: "?", what: "these keys", run: help },
    { keys: "j", what: "next row", run: () => step(1) },
    { keys: "k", what: "previous row", run: () => step(-1) },
    { keys: "/", what: "search or filter", run: pressed },
  ]);
}

// The way round: pages, the state of the connection, theme and keys.
function Side({ asks, help }: { asks: number; help: () => void }) {
  const at = place.value.parts[0] ?? "now";
  return (
    <header class="side">
      <div class="brand">
        <img src={icon} alt="" width="18" height="18" />
        hubcli
      </div>
      <nav aria-label="Pages">
        <ul>
          {pages.map((page) => (
            <li key={page.name}>
              <Link to={to(page.name)} aria-current={page.name === at ? "page" : undefined} title={`g ${page.key}`}>
                {page.label}
                {page.name === "now" && asks > 0 && (
                  <span class="count count-bad">
                    {asks}
                    <span class="sr"> open {asks === 1 ? "question" : "questions"}</span>
                  </span>
                )}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="foot">
        <span role="status" class={connected.value ? "state on" : "state off"}>
          {connected.value ? "connected" : "not connected"}
        </span>
        <label class="theme">
          <span class="sr">Colors</span>
          <select value={theme.value} onChange={(event) => theme.keep(event.currentTarget.value)}>
            {themes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="button" data-look class="quiet" aria-label="Keys" title="Keys: ?" onClick={help}>
          ?
        </button>
      </div>
    </header>
  );
}

// Frame is what is around every page.
export function Frame() {
  const [help, setHelp] = useState(false);
  const open = useRead<Ask[]>("/v1/asks?state=open&limit=1000", ["asks"]).value;
  const asks = open ?? [];
  useNotify(open);
  const { parts } = place.value;
  const page = parts.length === 0 ? pages[0] : pages.find((one) => one.name === parts[0]);
  useFrameKeys(() => setHelp(true));
  useEffect(() => {
    if (parts.length === 0) go(to("now") + location.search, true);
  }, [parts.length]);
  useEffect(() => {
    // For a tab in the background the title says how many questions are open.
    const name = title.value ? `${title.value} · hubcli` : "hubcli";
    document.title = asks.length > 0 ? `(${asks.length}) ${name}` : name;
  }, [title.value, asks.length]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the page
      </a>
      <Side asks={asks.length} help={() => setHelp(true)} />
      <main id="main" tabIndex={-1} data-page={page?.name}>
        {!connected.value && (
          <p class="banner" role="alert">
            {hangs.value ? "The hub has not answered since" : "Not connected since"} {clockOf(new Date(since.value))}. What is shown is as of then
            {hangs.value && ", and what you send waits for it"}.
            {impostor.value && (
              <>
                {" "}
                <b>Another program has the hub's port.</b> Nothing is sent to it. Do not load this page anew: that program would
                answer. <Command>hubcli status</Command> says more.
              </>
            )}
          </p>
        )}
        {page ? <page.view key={page.name} rest={parts.slice(1)} /> : <Nowhere />}
        <Outcome />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}
