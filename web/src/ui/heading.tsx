import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { moves } from "../route";
import { line } from "./text";

// title is what the page is called, in the tab of the browser.
export const title = signal("");

let focused = 0; // the move of which the heading has had the focus

// Heading is the one heading of a page: it names the tab, and takes the focus when a person
// came from another page, so that a screen reader begins there.
export function Heading({ title: name, children }: { title: string; children?: ComponentChildren }) {
  const self = useRef<HTMLHeadingElement>(null);
  const move = moves.value;
  useEffect(() => {
    title.value = line(name);
  }, [name, move]);
  useEffect(() => {
    if (move === focused) return;
    focused = move;
    self.current?.focus({ preventScroll: true });
  }, [move]);
  return (
    <h1 ref={self} tabIndex={-1}>
      {children ?? line(name)}
    </h1>
  );
}
