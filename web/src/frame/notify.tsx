import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import icon from "../icon.svg";
import { kept } from "../kept";
import { go, to } from "../route";
import { line } from "../ui/text";
import type { Ask } from "../wire";

// Notifications of the browser say that an agent asks something while the person looks at
// something else. The browser is asked for its permission by a click alone.

const wanted = kept("hubcli.notify", "off");
const permission = signal(typeof Notification === "undefined" ? "none" : Notification.permission);

const on = () => wanted.value === "on" && permission.value === "granted";

async function turn(): Promise<void> {
  if (on()) return wanted.keep("off");
  permission.value = await Notification.requestPermission();
  if (permission.value === "granted") wanted.keep("on");
}

function tell(ask: Ask): void {
  const title = ask.permission ? `${ask.agent_id} wants to use ${line(ask.permission.tool)}` : `${ask.agent_id} asks`;
  const shown = new Notification(title, { body: line(ask.question).slice(0, 200), tag: ask.ask_id, icon });
  shown.onclick = () => {
    window.focus();
    go(to("now"));
    shown.close();
  };
}

// useNotify tells of each question that is new since the tab has read them first, once.
export function useNotify(asks: readonly Ask[] | null): void {
  const told = useRef<Set<string> | null>(null);
  // Together with the rows, so that a person who looks away after they are there is not told of them.
  useLayoutEffect(() => {
    if (!asks) return;
    const before = told.current;
    told.current = new Set([...(before ?? []), ...asks.map((ask) => ask.ask_id)]);
    if (before && on() && !(document.visibilityState === "visible" && document.hasFocus())) {
      asks.filter((ask) => !before.has(ask.ask_id)).forEach(tell);
    }
  }, [asks]);
}

// NotifySwitch turns notifications on and off.
export function NotifySwitch() {
  if (permission.value === "none") return null;
  if (permission.value === "denied") return <span class="soft">The browser lets no notifications through.</span>;
  return (
    <button type="button" class="quiet" aria-pressed={on()} onClick={() => void turn()}>
      {on() ? "Notifications are on" : "Notify me of questions"}
    </button>
  );
}
