import { useState } from "preact/hooks";
import type { Attachment } from "../wire";
import { Line, Text, line } from "./text";

const short = { chars: 800, lines: 12 }; // of what is shown without a fold
const much = 20_000; // characters that are shown at once

const words: Record<string, string> = { file_ref: "file", diff_ref: "diff" };

// textOf is what is attached, as text: nothing of it is loaded, run or drawn.
function textOf({ content }: Attachment): string {
  if (content === undefined) return "";
  return typeof content === "string" ? content : JSON.stringify(content, null, 2);
}

// nameOf says what is attached in one line.
function nameOf(one: Attachment): string {
  const lines = one.start_line ? `:${one.start_line}${one.end_line && one.end_line !== one.start_line ? `–${one.end_line}` : ""}` : "";
  const span = one.base || one.head ? `${one.base ?? ""}…${one.head ?? ""}` : "";
  return [one.path && one.path + lines, span, one.language, one.description].filter(Boolean).join(" · ");
}

const sizeOf = (text: string) => (text.length < 2_000 ? `${text.length} characters` : `${Math.round(text.length / 1_000)} kB`);

const Name = ({ one, text }: { one: Attachment; text: string }) => (
  <>
    <span class="badge badge-accent">{words[one.type] ?? line(one.type)}</span> <Line>{nameOf(one)}</Line>
    {text && <span class="soft"> {sizeOf(text)}</span>}
  </>
);

function Attached({ one }: { one: Attachment }) {
  const text = textOf(one);
  const [open, setOpen] = useState(text.length <= short.chars && text.split("\n").length <= short.lines);
  const [all, setAll] = useState(false);
  if (!text) return <Name one={one} text="" />;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name one={one} text={text} />
      </summary>
      {open && (
        <div class="content mono" tabIndex={0} role="group" aria-label="What is attached">
          <Text>{all || text.length <= much ? text : text.slice(0, much) + "…"}</Text>
          {!all && text.length > much && (
            <button type="button" data-look onClick={() => setAll(true)}>
              Show all, {sizeOf(text)}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

// Attachments are what was sent with a message. What is long is folded until the person opens it.
export function Attachments({ of }: { of: readonly Attachment[] | undefined }) {
  if (!of || of.length === 0) return null;
  return (
    <ul class="attached" aria-label={of.length === 1 ? "1 attachment" : `${of.length} attachments`}>
      {of.map((one, i) => (
        <li key={i}>
          <Attached one={one} />
        </li>
      ))}
    </ul>
  );
}

// AttachedNames says in one line what was sent with a message, where it has no more room.
export function AttachedNames({ of }: { of: readonly Attachment[] | undefined }) {
  if (!of || of.length === 0) return null;
  const names = of.map((one) => [words[one.type] ?? one.type, one.path].filter(Boolean).join(" ")).join(", ");
  return (
    <span class="soft cut" title={line(names)}>
      <span class="badge badge-accent">+{of.length} attached</span> <Line>{names}</Line>
    </span>
  );
}
