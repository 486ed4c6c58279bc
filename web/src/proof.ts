import { signal } from "@preact/signals";
import { hear } from "./heard";
import { Refused } from "./refused";
import type { Envelope, PassProof } from "./wire";

// An address outlives the hub behind it: when the hub has stopped, another program may take its
// port. So the hub proves itself before the page sends anything, again after each loss of the
// connection, and the page signs its calls instead of sending its pass.
//
// The key of the signatures is made of the pass and of the run of the hub's process. What the
// page has sent or stored is of no use in another run, when another program may have had the
// port in between. The pass itself is in the memory of the page alone, as a key that no script
// can read. A page that is loaded anew has the key of the run, and gets the pass back, encrypted.

interface Pass {
  pass_id: string;
  expires_at: string;
}

interface Stored extends Pass {
  run: string;
  key: string; // of the run, in hexadecimal
}

const place = "hubcli.pass";
const hmac = { name: "HMAC", hash: "SHA-256" };
const text = new TextEncoder();

const hex = (bytes: ArrayBuffer) => [...new Uint8Array(bytes)].map((one) => one.toString(16).padStart(2, "0")).join("");
const bytesOf = (digits: string) => Uint8Array.from(digits.match(/../g) ?? [], (two) => parseInt(two, 16));
const random = () => hex(crypto.getRandomValues(new Uint8Array(16)).buffer);
const keyOf = (bytes: Uint8Array<ArrayBuffer>) => crypto.subtle.importKey("raw", bytes, hmac, false, ["sign"]);
const mac = (key: CryptoKey, ...lines: string[]) => crypto.subtle.sign("HMAC", key, text.encode(lines.join("\n")));

function read(): Stored | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place) ?? "null") as Stored | null;
    return kept && typeof kept.key === "string" ? kept : null;
  } catch {
    return null;
  }
}

// pass is what the tab has, or had before it was loaded anew; null: it must be opened. why says
// what ended the last one.
export const pass = signal<Pass | null>(read());
export const why = signal("");

// impostor says that what answers at the address did not prove to be the hub.
export const impostor = signal(false);

// __HUB__ is the hub behind the server for work on the page.
declare const __HUB__: string;

const page = random(); // names this load of the page in its signatures
let counter = 0;
let whole: Promise<CryptoKey> | null = null; // of the pass; null: only the key of the run is known
let key: CryptoKey | null = null; // of the run
let proved = false; // since the last loss of the connection
let asked = 0; // when the last proof failed, by performance.now

// adopt takes a pass in place of the last one. It is never sent again, and never in an address,
// in a cookie or in any storage.
export function adopt(issued: Pass & { token: string }): void {
  drop();
  whole = keyOf(text.encode(issued.token));
  why.value = "";
  pass.value = { pass_id: issued.pass_id, expires_at: issued.expires_at };
}

// forget ends what the tab may do.
function forget(reason: string): never {
  drop();
  why.value = reason;
  pass.value = null;
  return ended();
}

function drop(): void {
  sessionStorage.removeItem(place);
  [whole, key, proved] = [null, null, false];
  impostor.value = false;
}

// doubt has the hub prove itself before the next call.
export function doubt(): void {
  proved = false;
}

const another = "Another program has the hub's port";

function fail(): never {
  impostor.value = true;
  asked = performance.now();
  throw new Refused("impostor", another, 0, "hubcli status says which port; hubcli ensure starts the hub when it is free", {});
}

let proving: Promise<void> | null = null;

// prove has the hub prove itself. Errors: Refused, and that of fetch if nothing answers.
export const prove = (): Promise<void> => (proving ??= demand().finally(() => (proving = null)));

const retry = 2_000; // ms between two challenges to a program that has failed one

async function demand(): Promise<void> {
  const { pass_id, expires_at } = pass.value ?? ended();
  if (impostor.value && performance.now() - asked < retry) throw new Refused("impostor", another, 0, "", {});
  const nonce = random();
  const answer = await fetch(challenge(pass_id, nonce), { cache: "no-store" });
  const said = await answered(answer);
  const bytes = await runKey(said.run);
  if (!bytes) return forget("This page was loaded anew, and the hub was started again meanwhile.");
  const next = await keyOf(bytes);
  const proofs = await Promise.all(addresses().map(async (at) => hex(await mac(next, "hub-pass-proof-1", nonce, at, said.run, String(said.ended)))));
  if (!proofs.includes(said.proof)) fail();
  impostor.value = false;
  if (said.ended) return forget("The pass has ended.");
  [key, proved] = [next, true];
  sessionStorage.setItem(place, JSON.stringify({ pass_id, expires_at, run: said.run, key: hex(bytes.buffer) } satisfies Stored));
  if (!whole) await recover(pass_id);
}

function ended(): never {
  throw new Refused("operator_required", "The page has no pass.", 0, "hubcli app open opens it again", {});
}

const challenge = (pass_id: string, nonce: string) => `/v1/passes/${pass_id}/proof?nonce=${nonce}`;

// answered is the proof in an answer. A hub that starts or stops says so; what answers anything
// else is no hub.
async function answered(answer: Response): Promise<PassProof> {
  if (answer.status >= 500) throw new Refused("unreachable", "The hub did not answer.", 0, "", {});
  const broken = (error: unknown) => (error instanceof SyntaxError ? fail() : Promise.reject(error));
  const said = (await answer.json().catch(broken)) as Envelope<PassProof> | null;
  const proof = said?.ok ? said.result : null;
  if (typeof proof?.run !== "string" || typeof proof.proof !== "string") fail();
  return proof;
}

// addresses are those to which the page may be connected, as the hub writes them.
function addresses(): string[] {
  if (import.meta.env.DEV) return [__HUB__]; // behind a proxy
  const { hostname, port } = location;
  const hosts = hostname === "localhost" ? ["127.0.0.1", "[::1]"] : [hostname];
  return hosts.map((host) => `${host}:${port || "80"}`);
}

// runKey returns the key of a run of the hub; null: without the pass it cannot be made.
async function runKey(of: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const kept = read();
  if (kept?.run === of) return bytesOf(kept.key);
  return whole && new Uint8Array(await mac(await whole, "hub-pass-run-1", of));
}

// recover gets the pass back, so that the page goes on when the hub is started again. Without it the
// page works until then.
async function recover(pass_id: string): Promise<void> {
  const answer = await signed("GET", challenge(pass_id, random()), undefined, {});
  const said = (await answer.json()) as Envelope<PassProof>;
  if (!said.ok || !said.result.sealed || !key) return;
  const sealed = Uint8Array.from(atob(said.result.sealed.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const seal = await crypto.subtle.importKey("raw", await mac(key, "hub-pass-seal-1"), "AES-GCM", false, ["unwrapKey"]);
  const opened = await crypto.subtle.unwrapKey("raw", sealed.slice(12), seal, { name: "AES-GCM", iv: sealed.slice(0, 12) }, hmac, false, ["sign"]);
  whole = Promise.resolve(opened);
}

export interface Sending {
  headers?: Record<string, string>;
  stop?: AbortSignal | undefined;
}

// send makes a call as the operator, once the hub has proved itself.
export async function send(method: string, path: string, body: string | undefined, with_: Sending): Promise<Response> {
  if (!proved) await prove();
  return signed(method, path, body, with_);
}

async function signed(method: string, path: string, body: string | undefined, with_: Sending): Promise<Response> {
  if (!key || !pass.value) ended();
  const [by, { pass_id }] = [key, pass.value];
  const { pathname, search } = new URL(path, location.origin);
  const sent = text.encode(body ?? "");
  const words = [pass_id, page, String(++counter)];
  const hash = hex(await crypto.subtle.digest("SHA-256", sent));
  const signature = hex(await mac(by, "hub-pass-call-1", ...words, method, pathname + search, hash));
  const init: RequestInit = { method, cache: "no-store", headers: { ...with_.headers, "X-Hub-Operator": ["signed", ...words, hash, signature].join(" ") } };
  if (body !== undefined) init.body = sent;
  if (with_.stop) init.signal = with_.stop;
  try {
    const answer = await fetch(path, init);
    hear();
    if (answer.status === 403) doubt(); // perhaps it is another hub or another run by now
    return answer;
  } catch (error) {
    if (!with_.stop?.aborted) doubt();
    throw error;
  }
}
