import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { useRead } from "../read";
import { Alert, Empty, Pending, wordsOf } from "../ui/said";
import { bytes } from "../ui/size";
import { Line, Text } from "../ui/text";
import { diff, hunks } from "./diff";
import type { Artifact, Content } from "./types";

// The bytes of an artifact: shown as text where they are text, named where they are not, and never
// given to the browser as anything that it would run or draw.

const contentOf = (id: string) => `/v1/artifacts/${encodeURIComponent(id)}/content?encoding=base64`;

const bytesOf = (content: Content) => Uint8Array.from(atob(content.content_base64), (char) => char.charCodeAt(0));

// textOf returns the text, or null if the bytes are none.
function textOf(content: Content): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(content));
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

// save has the browser save the bytes under a plain name.
async function save(one: Artifact): Promise<void> {
  const content = await get<Content>(contentOf(one.artifact_id));
  const address = URL.createObjectURL(new Blob([bytesOf(content)], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  const name = one.title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 100) || one.artifact_id;
  const dot = name.lastIndexOf(".");
  link.download = dot > 0 ? `${name.slice(0, dot)}-v${one.version}${name.slice(dot)}` : `${name}-v${one.version}${endings[one.content_type.split(";")[0] ?? ""] ?? ""}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const endings: Record<string, string> = { "text/plain": ".txt", "text/markdown": ".md", "application/json": ".json", "text/x-diff": ".diff" };

function Download({ one }: { one: Artifact }) {
  const [refused, setRefused] = useState("");
  return (
    <>
      <button type="button" data-look onClick={() => void save(one).then(() => setRefused(""), (error) => setRefused(wordsOf(error)))}>
        Download version {one.version}
      </button>
      <Alert>{refused}</Alert>
    </>
  );
}

const most = 200_000; // characters that are shown of a text

// Shown shows what a version holds.
export function Shown({ one }: { one: Artifact }) {
  const { value, error } = useRead<Content>(one.left_out ? null : contentOf(one.artifact_id), []);
  const text = useMemo(() => value && textOf(value), [value]);
  return (
    <section aria-labelledby="content">
      <div class="row">
        <h2 id="content">Content</h2>
        {!one.left_out && <Download one={one} />}
      </div>
      {one.left_out && (
        <Empty>
          A capsule brought this artifact without its bytes (<Line>{one.left_out.replace("_", " ")}</Line>).
        </Empty>
      )}
      {!one.left_out && !value && <Pending error={error} />}
      {value && text === null && <Empty>This is no text, and is not shown. Download it to see it.</Empty>}
      {value && text === "" && <Empty>It is empty.</Empty>}
      {text && (
        <>
          {text.length > most && (
            <p class="warn">
              The first {bytes(most)} of {bytes(text.length)} are shown. Download it for the rest.
            </p>
          )}
          <div class="content mono" tabIndex={0} role="region" aria-label="Text">
            <Text>{text.slice(0, most)}</Text>
          </div>
        </>
      )}
    </section>
  );
}

const shownLines = 2_000;

// Compared shows what a version changes of an earlier one.
export function Compared({ old, now }: { old: Artifact; now: Artifact }) {
  const before = useRead<Content>(contentOf(old.artifact_id), []);
  const after = useRead<Content>(contentOf(now.artifact_id), []);
  const [lines, setLines] = useState<ReturnType<typeof diff> | undefined>(undefined);
  const texts = useMemo(() => before.value && after.value && [textOf(before.value), textOf(after.value)], [before.value, after.value]);
  useEffect(() => {
    if (texts) setLines(texts[0] != null && texts[1] != null ? diff(texts[0], texts[1]) : null);
  }, [texts]);
  const error = before.error ?? after.error;
  const none = texts !== null && texts.some((text) => text === null);
  const changed = lines?.filter((line) => line.sign !== " ").length ?? 0;
  const shown = lines ? hunks(lines) : [];
  return (
    <section aria-labelledby="diff">
      <div class="row">
        <h2 id="diff">
          From version {old.version} to version {now.version}
        </h2>
        {lines && (
          <span class="soft">
            <span class="on">+{lines.filter((line) => line.sign === "+").length}</span>{" "}
            <span class="off">−{lines.filter((line) => line.sign === "-").length}</span> lines
          </span>
        )}
        <Download one={old} />
        <Download one={now} />
      </div>
      {lines === undefined && <Pending error={error} />}
      {none && <Empty>One of them is no text, so there is nothing to compare here.</Empty>}
      {lines === null && !none && <Empty>They are too long or too different to be compared on a page. Download both.</Empty>}
      {lines && changed === 0 && <Empty>They hold the same.</Empty>}
      {changed > 0 && (
        <div class="content mono diff" tabIndex={0} role="region" aria-label="Lines">
          {shown.slice(0, shownLines).map((line, i) =>
            line === null ? (
              <p key={i} class="gap">
                …
              </p>
            ) : (
              <p key={i} class={line.sign === "+" ? "added" : line.sign === "-" ? "gone" : ""}>
                <span class="number" aria-hidden="true">
                  {line.now || line.old}
                </span>
                <span class="sign-of" aria-label={line.sign === "+" ? "added" : line.sign === "-" ? "removed" : undefined}>
                  {line.sign === "-" ? "−" : line.sign}
                </span>
                <Text>{line.text}</Text>
              </p>
            ),
          )}
        </div>
      )}
      {shown.length > shownLines && <p class="warn">The first {shownLines.toLocaleString()} lines are shown. Download both for the rest.</p>}
    </section>
  );
}
