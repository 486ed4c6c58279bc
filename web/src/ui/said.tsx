import type { ComponentChildren } from "preact";
import { Refused } from "../api";
import { Line } from "./text";

// Empty says what it means that nothing is here, and what to do next.
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

// Command is something to type into a terminal.
export const Command = ({ children }: { children: string }) => <code class="command">{children}</code>;

// wordsOf says why something was refused and the way out.
export function wordsOf(error: unknown): string {
  if (error instanceof Refused) return [error.message, error.fix].filter(Boolean).join(": ");
  return "The hub did not answer. Nothing was changed, or it is not known; try again.";
}

// refusalOf waits for work and says why it was refused; empty: it was not.
export const refusalOf = (work: Promise<unknown>): Promise<string> => work.then(() => "", wordsOf);

// Alert says what went wrong; empty: nothing did.
export const Alert = ({ children }: { children: string }) =>
  children ? (
    <p class="alert" role="alert">
      <Line>{children}</Line>
    </p>
  ) : null;

// Unread stands for what was not read yet, or could not be.
export const Pending = ({ error }: { error: unknown }) =>
  error ? <Alert>{wordsOf(error)}</Alert> : <p class="empty" aria-busy="true">reading…</p>;
