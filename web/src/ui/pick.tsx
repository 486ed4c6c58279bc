import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { refusalOf } from "./said";

interface PickProps {
  value: string; // what the hub has
  set: (value: string) => Promise<unknown>; // comes back when the page has read the new value
  onRefused: (words: string) => void; // empty: the hub has taken it
  label?: string; // for screen readers, where no label is around it
  children: ComponentChildren; // options
}

// Pick is a choice that the hub keeps. It shows what a person picks until the hub has answered, and
// after a refusal what the hub has. Quick picks are sent one after the other, and the last one counts.
export function Pick({ value, set, onRefused, label, children }: PickProps) {
  const [picked, setPicked] = useState<string | null>(null);
  const turn = useRef(0);
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const pick = async (wanted: string) => {
    const mine = ++turn.current;
    setPicked(wanted);
    const sent = before.current.then(() => (mine === turn.current ? set(wanted) : null));
    before.current = sent.catch(() => null);
    const refused = await refusalOf(sent);
    if (mine !== turn.current) return;
    onRefused(refused);
    setPicked(null);
  };
  return (
    <select data-decides data-about={label} aria-label={label} aria-busy={picked !== null || undefined} value={picked ?? value} onChange={(event) => void pick(event.currentTarget.value)}>
      {children}
    </select>
  );
}
