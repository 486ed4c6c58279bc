import { signal } from "@preact/signals";
import type { Envelope, IssuedPass } from "./wire";

// The pass is kept for the tab alone and sent as a header. It is never in an address, in a
// cookie or in storage that another tab or program reads.
const key = "hubcli.pass";

interface Kept {
  token: string;
  pass_id: string;
  expires_at: string;
}

function read(): Kept | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as Kept | null;
    return kept && typeof kept.token === "string" ? kept : null;
  } catch {
    return null;
  }
}

// pass is what the tab has; null: it must be opened anew. why says what ended the last one.
export const pass = signal<Kept | null>(read());
export const why = signal("");

// forget ends what the tab may do.
export function forget(reason: string): void {
  sessionStorage.removeItem(key);
  why.value = reason;
  pass.value = null;
}

// enter exchanges the code in the address, if there is one, and takes it out of the address
// and the history first. A code that comes while the page is open counts, too.
export async function enter(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  let said: Envelope<IssuedPass>;
  try {
    const answer = await fetch("/v1/passes", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.getRandomValues(new Uint32Array(4)).join("-") },
      body: JSON.stringify({ code, label: "console" }),
      cache: "no-store",
    });
    said = (await answer.json()) as Envelope<IssuedPass>;
  } catch {
    why.value = "The hub did not answer.";
    return;
  }
  if (!said.ok) {
    why.value = said.error + (said.fix ? ": " + said.fix : "");
    return;
  }
  const { token, pass_id, expires_at } = said.result;
  sessionStorage.setItem(key, JSON.stringify({ token, pass_id, expires_at }));
  why.value = "";
  pass.value = { token, pass_id, expires_at };
}
