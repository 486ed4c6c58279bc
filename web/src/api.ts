import { forget, pass } from "./pass";
import type { Envelope } from "./wire";

// Refused is an error that the hub has answered.
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly fix: string,
    readonly detail: Record<string, unknown>,
  ) {
    super(message);
  }
}

// temporary tells whether the same call may be answered later: the hub did not answer, or could not.
export const temporary = (error: unknown) => !(error instanceof Refused) || error.status === 0 || error.status >= 500;

export type Answer<T> = Extract<Envelope<T>, { ok: true }>;

// whole sends one call as the operator and returns all of its answer. A pass that has ended is
// forgotten, so that the page says how to open it again.
export async function whole<T>(method: string, path: string, body?: unknown, stop?: AbortSignal): Promise<Answer<T>> {
  const headers: Record<string, string> = { "X-Hub-Operator": pass.value?.token ?? "" };
  if (method !== "GET") {
    headers["Content-Type"] = "application/json";
    headers["Idempotency-Key"] = crypto.getRandomValues(new Uint32Array(4)).join("-");
  }
  const init: RequestInit = { method, headers, cache: "no-store" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (stop) init.signal = stop;
  const answer = await fetch(path, init);
  const said = (await answer.json()) as Envelope<T>;
  if (said.ok) return said;
  const refused = new Refused(said.code, said.error, said.status, said.fix ?? "", said.detail ?? {});
  if (said.code === "operator_required") forget(said.error);
  throw refused;
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
