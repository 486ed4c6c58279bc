import { adopt, pass, why } from "./proof";
import type { Envelope, IssuedPass } from "./wire";

export { pass, why };

// enter exchanges the code in the address, if there is one, and takes it out of the address
// and the history first. A code that comes while the page is open counts, too.
export async function enter(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (!window.isSecureContext) {
    why.value = "A browser signs nothing for a page at this address. Open it at 127.0.0.1, from another machine through a tunnel.";
    return;
  }
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
  adopt({ token, pass_id, expires_at });
}
