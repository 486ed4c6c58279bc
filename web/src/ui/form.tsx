import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Alert, wordsOf } from "./said";
import { Line } from "./text";

interface FormProps {
  label: string; // on the button
  run: (values: Values) => Promise<string | void>; // what it returns is said
  children?: ComponentChildren;
  keep?: boolean; // the fields stay as they are afterwards
}

// Values are the fields of a form by name, without space around them.
export class Values {
  constructor(private readonly data: FormData) {}
  text = (name: string) => String(this.data.get(name) ?? "").trim();
  number = (name: string) => (this.text(name) === "" ? null : Number(this.text(name)));
  is = (name: string) => this.data.get(name) !== null;
}

const textOf = (form: HTMLFormElement) => JSON.stringify([...new FormData(form)]);

// Form sends what a person has typed, and says in place what came of it. Fields have a defaultValue:
// after a success they go back to it, so they follow what the hub says. They stay as they were typed
// after a refusal, and if the person has typed more meanwhile. If they show what the hub has, run
// rereads it before it comes back: otherwise the fields would go back to the old values.
export function Form({ label, run, children, keep = false }: FormProps) {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState("");
  const [said, setSaid] = useState("");
  const send = async (form: HTMLFormElement) => {
    const sent = textOf(form);
    setBusy(true);
    setSaid("");
    try {
      const words = await run(new Values(new FormData(form)));
      setRefused("");
      setSaid(words ?? "Done.");
      if (!keep && textOf(form) === sent) form.reset();
    } catch (error) {
      setRefused(wordsOf(error));
    }
    setBusy(false);
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void send(event.currentTarget);
      }}
    >
      {children}
      <p class="row">
        <button type="submit" class="main" disabled={busy}>
          {busy ? "…" : label}
        </button>
        <span role="status" class="on">
          {said && <Line>{said}</Line>}
        </span>
      </p>
      <Alert>{refused}</Alert>
    </form>
  );
}

// Field is a label with its field.
export const Field = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <label class="field">
    {label}
    {children}
  </label>
);

// Tick is a box that a form sends when it is ticked.
export const Tick = ({ name, label, on = false }: { name: string; label: string; on?: boolean }) => (
  <label class="tick">
    <input type="checkbox" name={name} defaultChecked={on} /> {label}
  </label>
);
