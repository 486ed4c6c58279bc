import type { ComponentChildren } from "preact";

// Everything that agents wrote is shown by Text and Line: as text, in its own direction, and
// with a visible sign for each character that would not be seen as itself. These are the
// characters of Hidden in internal/peertext, and the signs are those of Shown there.
const hidden = /(?![\n\t\u200c\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

const sign = (char: string) => `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;

// clean is a text for attributes and titles, which take no elements.
export const clean = (text: string) => text.replaceAll("\r\n", "\n").replace(hidden, sign);

// line is clean on one line.
export const line = (text: string) => clean(text).split(/\s+/u).filter(Boolean).join(" ");

// A letter with its marks is never broken, and so are emoji that are joined. Where there are more
// of them than in any language, a line may break between them, or one letter leaves the page.
const seen = `(?!${hidden.source})`;
const special = new RegExp(`${hidden.source}|(?:${seen}[\\p{M}\\u200c\\u200d]){8}(?=[\\p{M}\\u200c\\u200d])|(?:${seen}\\S\\ufe0f?\\u200d){12}`, "gu");

function shown(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(special)) {
    const end = found.index + found[0].length;
    if (found[0].length > 2) {
      parts.push(text.slice(from, end), <wbr />);
    } else {
      parts.push(
        text.slice(from, found.index),
        <span class="sign" title="a character that cannot be seen">
          {sign(found[0])}
        </span>,
      );
    }
    from = end;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)];
}

// Text keeps the lines of a text.
export const Text = ({ children }: { children: string }) => (
  <bdi class="text" dir="auto">
    {shown(children.replaceAll("\r\n", "\n"))}
  </bdi>
);

// Marked is a line with some of its characters marked, from the first to the one behind the last.
export function Marked({ children, marks }: { children: string; marks: readonly number[][] }) {
  const chars = Array.from(children);
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [from = 0, end = 0] of marks) {
    if (from < at || end <= from) continue;
    parts.push(shown(chars.slice(at, from).join("")), <mark>{shown(chars.slice(from, end).join(""))}</mark>);
    at = end;
  }
  return (
    <bdi class="line" dir="auto">
      {parts}
      {shown(chars.slice(at).join(""))}
    </bdi>
  );
}

// Line shows a text on one line.
export const Line = ({ children }: { children: string }) => (
  <bdi class="line" dir="auto">
    {shown(children.split(/\s+/u).filter(Boolean).join(" "))}
  </bdi>
);
