import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { left, lose } from "../keys";
import { Unread } from "../read";
import { Alert, wordsOf } from "./said";
import { said } from "./outcome";
import { line } from "./text";

// Dialog is modal and native: it keeps the focus, ends with Escape, and gives the focus back.
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      left();
    };
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === box.current) onClose(); // beside it
      }}
    >
      <div class="dialog">
        <header class="row">
          <h2 id={id}>{line(title)}</h2>
          <button type="button" data-look class="quiet end" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ActProps {
  label: string; // on the button, and on the button that does it
  about?: string; // what the button is about, where many have the same label; for screen readers
  title: string; // what is asked
  children?: ComponentChildren; // what will happen
  reason?: string; // the name of the field for words that others are told; left out: none is asked for
  optional?: boolean; // the reason may be empty
  quiet?: boolean;
  mild?: boolean; // nothing ends or breaks
  run: (reason: string) => Promise<unknown>; // a text that it returns is said when it is done
}

// Act is a button for something that ends or breaks: it asks first, and for words where others
// are told why. What the hub refuses it says in the dialog, and the words stay. What was done is
// said at the foot of the page, and so is that the thing has gone while the dialog was open.
export function Act({ label, about, title, children, reason, optional = false, quiet = false, mild = false, run }: ActProps) {
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState("");
  const done = () => {
    setOpen(false);
    setRefused("");
  };
  const asked = useRef(""); // the address at which the open dialog was opened
  asked.current = open ? asked.current || location.href : "";
  const acts = useRef(false); // what ends then was ended by the person
  const typed = useRef("");
  typed.current = words.trim();
  useEffect(
    () => () => {
      if (asked.current !== location.href || acts.current) return;
      said.value = `${line(title)}: what this was about has changed meanwhile. Nothing was done.` + (typed.current && ` Your words were: ${typed.current}`);
      lose();
    },
    [],
  );
  const act = async () => {
    setBusy(true);
    acts.current = true;
    try {
      const result = await run(words.trim());
      if (typeof result === "string") said.value = result;
      setWords("");
      done();
      acts.current = false;
    } catch (error) {
      if (error instanceof Unread) {
        said.value = wordsOf(error);
        setWords("");
        done();
      } else setRefused(wordsOf(error));
      acts.current = false;
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class={quiet ? "quiet" : ""} data-about={line(title)} aria-label={about && line(`${label} ${about}`)} onClick={() => setOpen(true)}>
        {label}
      </button>
      {open && (
        <Dialog title={title} onClose={done}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void act();
            }}
          >
            {children}
            {reason !== undefined && (
              <label class="field">
                {reason}
                <textarea rows={3} value={words} required={!optional} maxLength={1000} onInput={(event) => setWords(event.currentTarget.value)} />
              </label>
            )}
            <Alert>{refused}</Alert>
            <div class="row">
              <button type="submit" class={mild ? "main" : "bad"} data-about={line(title)} disabled={busy || (reason !== undefined && !optional && !words.trim())}>
                {label}
              </button>
              <button type="button" data-look class="quiet" onClick={done}>
                Cancel
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
