import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { kept } from "./kept";
import { moves } from "./route";
import { said } from "./ui/outcome";

// All keys of the console are in one list, which ? shows. A key is one character, a name of
// KeyboardEvent.key, or two of them with a space between: "g n". Keys do nothing while a
// person types, with a modifier, or while a dialog is open. Neither do they when what had the focus
// was taken away: the person may be typing into it still.

export interface Key {
  keys: string;
  what: string;
  run: (event: KeyboardEvent) => void;
}

interface Group {
  name: string;
  keys: readonly Key[];
}

// groups are the keys in force; of two with the same keys the later counts.
export const groups = signal<readonly Group[]>([]);

// letters says whether keys of one character work. A person who speaks to the browser turns
// them off.
export const letters = kept("hubcli.keys", "on");

// useKeys has keys work, and listed, as long as its component is shown.
export function useKeys(name: string, keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  const said = keys.map((key) => key.keys + " " + key.what).join("\n");
  useEffect(() => {
    const group: Group = {
      name,
      keys: latest.current.map((key, i) => ({ ...key, run: (event) => latest.current[i]?.run(event) })),
    };
    groups.value = [...groups.value, group];
    return () => {
      groups.value = groups.value.filter((one) => one !== group);
    };
  }, [name, said]);
}

const patience = 1_500; // ms, for the second of two keys
let first = "";
let firstAt = 0;

function find(keys: string): Key | undefined {
  for (const group of groups.value.toReversed()) {
    const found = group.keys.find((key) => key.keys === keys);
    if (found) return found;
  }
  return undefined;
}

// types tells whether keys are text, or choose, where they go. A slider takes arrows alone.
const types = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("textarea, select, input:not([type=range], [type=checkbox], [type=radio])"));

let last: Element | null = null; // had the focus last, and was not left by the person
let lost = false; // it was taken away; until the next click or Tab

// left says that the person has left what had the focus, such as by closing a dialog.
export function left(): void {
  last = null;
}

// lose says that what had the focus was taken away.
export function lose(): void {
  lost = true;
}

effect(() => {
  moves.value; // the person went to another page
  left();
});

// A heading takes the focus of a new page by itself: nobody was in it.
addEventListener("focusin", ({ target }) => (last = target instanceof Element && !target.matches("h1, main") ? target : null), true);
addEventListener(
  "pointerdown",
  () => {
    left();
    lost = false;
  },
  true,
);

// taken tells whether the focus was lost to a removal.
function taken(): boolean {
  const at = document.activeElement;
  if (last && (!at || at === document.body) && (!last.isConnected || last.matches(":disabled"))) {
    left();
    lost = true;
  }
  return lost;
}

function press(event: KeyboardEvent): void {
  if (event.key === "Tab") {
    left();
    lost = false;
    return;
  }
  if (taken() && !types(event.target)) {
    if (event.key.length === 1) said.value = "What you were in is gone, so keys of one letter wait until you click or press Tab.";
    return;
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (types(event.target)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (event.key.length === 1 && letters.value === "off") return;
  const pair = first !== "" && event.timeStamp - firstAt < patience ? first + " " + event.key : "";
  const key = (pair && find(pair)) || find(event.key);
  first = key ? "" : event.key;
  firstAt = event.timeStamp;
  if (!key) return;
  event.preventDefault();
  key.run(event);
}

addEventListener("keydown", press);
