import { useState } from "preact/hooks";
import { Text } from "./text";

// Body is the text of a message. What stands between fences is code, and a long text is folded
// until the person opens it. Nothing else of a text is read as a sign.

const foldChars = 1_200;
const foldLines = 16;

function beginning(text: string): string | null {
  let end = text.length > foldChars * 1.25 ? foldChars : text.length;
  let at = -1;
  for (let lines = 0; lines < foldLines; lines++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) break;
  }
  if (at >= 0 && text.slice(at).split("\n", 5).length > 4) end = Math.min(end, at);
  return end < text.length ? text.slice(0, end) : null;
}

const fence = /^```[^\n`]*$/m;

function parts(text: string) {
  if (!text.includes("```")) return <Text>{text}</Text>;
  return text.split(fence).map((part, i) => {
    const inner = part.replace(/^\n/, "").replace(/\n$/, "");
    if (inner === "") return null;
    return i % 2 === 1 ? (
      <pre key={i} tabIndex={0}>
        <Text>{inner}</Text>
      </pre>
    ) : (
      <p key={i}>
        <Text>{inner}</Text>
      </p>
    );
  });
}

const size = (n: number) => (n < 2_000 ? `${n} characters` : `${Math.round(n / 1_000)} kB`);

export function Body({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const cut = beginning(text);
  return (
    <div class="body">
      {parts(open || cut === null ? text : cut + " …")}
      {cut !== null && (
        <button type="button" data-look class="quiet unfold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all, ${size(text.length)}`}
        </button>
      )}
    </div>
  );
}
