import type { Page } from "../pages";
import { useRead, type Reading } from "../read";
import { Begins } from "../ui/begins";
import { Choice, Filters, Search, filter } from "../ui/filters";
import { Heading } from "../ui/heading";
import { Pager } from "../ui/pager";
import { RoomFilter } from "../ui/places";
import { Command, Empty, Pending } from "../ui/said";
import { Tabs } from "../ui/tabs";
import type { Agent, Claim, Lock } from "../wire";
import { heldClaim, heldLock, type Held } from "./held";
import { LeaseRows } from "./rows";

// path asks for what is held, with the filters that the hub knows.
function path(of: "claims" | "locks"): string {
  const asked = new URLSearchParams({ active_only: "true", limit: "1000" });
  for (const [name, value] of [["owner_agent_id", filter("agent")], ["room_id", filter("room")], ["prefix", filter("begins")]] as const) {
    if (value) asked.set(name, value);
  }
  return `/v1/${of}?${asked}`;
}

const has = (one: Held, text: string) => [one.name, one.holder, ...one.waiters.map((waiter) => waiter.agent_id)].join("\n").toLowerCase().includes(text);

// Those that others wait for come first.
const order = (a: Held, b: Held) => b.waiters.length - a.waiters.length;

function List({ reading, held, what }: { reading: Reading<unknown>; held: readonly Held[]; what: string }) {
  const text = filter("q");
  const begins = filter("begins");
  if (reading.value === null) return <Pending error={reading.error} />;
  const shown = held.filter((one) => has(one, text.toLowerCase())).sort(order);
  const cut = reading.next ? `The hub has more ${what}; these are among the first 1,000 by name. An agent or a room makes the list shorter.` : "";
  return (
    <>
      <Begins what={what} more={reading.next !== ""} />
      {shown.length === 0 && <None what={what} filtered={Boolean(text || begins || filter("agent") || filter("room"))} />}
      <Pager rows={shown} what={what} cut={cut}>
        {(rows) => <LeaseRows rows={rows} label={what} />}
      </Pager>
    </>
  );
}

function None({ what, filtered }: { what: string; filtered: boolean }) {
  if (filtered) return <Empty>No {what} are held that match.</Empty>;
  return what === "claims" ? (
    <Empty>
      Nobody holds a claim. Agents claim what one of them alone should do: <Command>hubcli claim parser --agent dev-a</Command>
    </Empty>
  ) : (
    <Empty>
      Nobody holds a file lock. Agents lock a file before they edit it: <Command>hubcli lock src/cart.ts --agent dev-a</Command>
    </Empty>
  );
}

function Leases() {
  const claims = useRead<Claim[]>(path("claims"), ["leases"]);
  const locks = useRead<Lock[]>(path("locks"), ["leases"]);
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]).value ?? [];
  const count = (reading: Reading<unknown[]>) => (reading.next ? `${reading.value?.length.toLocaleString()}+` : reading.value?.length);
  return (
    <>
      <Heading title="Leases" />
      <Filters label="Filter leases">
        <Search label="Filter by name or agent" />
        <Choice name="agent" label="Holder" none="any holder" options={agents.map((agent) => [agent.agent_id, agent.agent_id])} />
        <RoomFilter room={filter("room")} />
      </Filters>
      <Tabs
        label="Leases"
        tabs={[
          { name: "claims", label: "Claims", count: count(claims), view: () => <List reading={claims} held={claims.value?.map(heldClaim) ?? []} what="claims" /> },
          { name: "locks", label: "File locks", count: count(locks), view: () => <List reading={locks} held={locks.value?.map(heldLock) ?? []} what="file locks" /> },
        ]}
      />
    </>
  );
}

export const leasesPage: Page = { name: "leases", label: "Leases", key: "l", view: Leases };
