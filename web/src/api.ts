import { prove, send } from "./proof";
import { Refused } from "./refused";
import type { Envelope } from "./wire";

export { Refused };

// temporary tells whether the same call may be answered later: the hub did not answer, or could not.
export const temporary = (error: unknown) => !(error instanceof Refused) || error.status === 0 || error.status >= 500;

export type Answer<T> = Extract<Envelope<T>, { ok: true }>;

const patience = 30_000; // ms for an answer

// whole sends one call as the operator and returns all of its answer. A pass that has ended is
// forgotten, so that the page says how to open it again. A call whose signature is refused is
// signed anew once: the hub was started again, or the browser has sent the call twice.
export async function whole<T>(method: string, path: string, body?: unknown, stop?: AbortSignal): Promise<Answer<T>> {
  const headers: Record<string, string> = {};
  if (method !== "GET") {
    headers["Content-Type"] = "application/json";
    headers["Idempotency-Key"] = crypto.getRandomValues(new Uint32Array(4)).join("-");
  }
  const sent = body === undefined ? undefined : JSON.stringify(body);
  // What only reads is given up after a while, and read again. A change may have been made.
  const limit = method === "GET" ? AbortSignal.timeout(patience) : undefined;
  const signals = [stop, limit].filter((one) => one !== undefined);
  const said = async () => (await (await send(method, path, sent, { headers, stop: signals.length > 0 ? AbortSignal.any(signals) : undefined })).json()) as Envelope<T>;
  let answer = await said();
  if (!answer.ok && answer.code === "pass_signature") answer = await said();
  if (answer.ok) return answer;
  if (answer.code === "operator_required") await prove().catch(() => {}); // which tells whether the pass has ended
  throw new Refused(answer.code, answer.error, answer.status, answer.fix ?? "", answer.detail ?? {});
}

// call is whole for those who need the result alone.
export const call = async <T>(method: string, path: string, body?: unknown, stop?: AbortSignal): Promise<T> =>
  (await whole<T>(method, path, body, stop)).result;

// listed reads a page of a list with as many rows as path asks for. The hub answers fewer at a
// time where they are long; their rest is then read too.
export async function listed<T>(path: string, stop?: AbortSignal): Promise<Answer<T>> {
  const said = await whole<T>("GET", path, undefined, stop);
  const rest = new URL(path, location.origin);
  const limit = Number(rest.searchParams.get("limit"));
  const rows: unknown = said.result;
  while (Array.isArray(rows) && said.next_cursor && rows.length < limit) {
    rest.searchParams.set("limit", String(limit - rows.length));
    rest.searchParams.set("cursor", said.next_cursor);
    const more = await whole<unknown[]>("GET", rest.pathname + rest.search, undefined, stop);
    rows.push(...more.result);
    said.next_cursor = more.next_cursor ?? "";
  }
  return said;
}

export const get = <T>(path: string, stop?: AbortSignal) => call<T>("GET", path, undefined, stop);
