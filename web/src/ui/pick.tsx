import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface PickProps {
  value: string; // what the hub has
  set: (value: string) => Promise<unknown>; // comes back when the page has read the new value
  onRefused: (error: unknown) => void; // null: the hub has taken it
  label?: string; // for screen readers, where no label is around it
  children: ComponentChildren; // options
}

// Pick is a choice that the hub keeps. It shows what a person picks until the hub has answered, and
// after a refusal what the hub has.
export function Pick({ value, set, onRefused, label, children }: PickProps) {
  const [picked, setPicked] = useState<string | null>(null);
  const pick = async (wanted: string) => {
    setPicked(wanted);
    try {
      await set(wanted);
      onRefused(null);
    } catch (error) {
      onRefused(error);
    }
    setPicked((now) => (now === wanted ? null : now));
  };
  return (
    <select aria-label={label} aria-busy={picked !== null || undefined} value={picked ?? value} onChange={(event) => void pick(event.currentTarget.value)}>
      {children}
    </select>
  );
}
