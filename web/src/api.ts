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

// call sends one call as the operator. A pass that has ended is forgotten, so that the page
// says how to open it again.
export async function call<T>(method: string, path: string, body?: unknown, stop?: AbortSignal): Promise<T> {
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
  if (said.ok) return said.result;
  const refused = new Refused(said.code, said.error, said.status, said.fix ?? "", said.detail ?? {});
  if (said.code === "operator_required") forget(said.error);
  throw refused;
}

export const get = <T>(path: string, stop?: AbortSignal) => call<T>("GET", path, undefined, stop);
