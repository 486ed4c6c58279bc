import { useRead } from "../read";
import { Link, to } from "../route";
import { AgentLink } from "../ui/links";
import { Sums, sumsBy } from "../ui/sums";
import { Line } from "../ui/text";
import { Age } from "../ui/time";
import type { Ledger, Room } from "../wire";

// Attention shows what an agent was given to read by whom and in which rooms, and what others
// were given of it.
export function Attention({ id }: { id: string }) {
  const ledger = useRead<Ledger>("/v1/attention/ledger", ["agents", "budgets"]).value;
  const rooms = useRead<Room[]>("/v1/rooms?archived=true&limit=1000", ["rooms"]).value ?? [];
  if (!ledger) return null;
  const nameOf = (room: string) => rooms.find((one) => one.room_id === room)?.name ?? room;
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">
        Attention <span class="soft">since the hub started, <Age at={ledger.since} /> ago</span>
      </h2>
      <div class="pair">
        <Sums
          all={sumsBy(ledger.rows.filter((row) => row.agent_id === id), (row) => row.from_agent, (row) => <AgentLink id={row.from_agent} />, (row) => row.path)}
          title="It was given"
          none="It was given nothing to read."
          rest="hubcli app attention"
        />
        <Sums
          all={sumsBy(ledger.rows.filter((row) => row.from_agent === id), (row) => row.agent_id, (row) => <AgentLink id={row.agent_id} />, (row) => row.path)}
          title="Others were given of it"
          none="Nobody was given anything of it."
          rest="hubcli app attention"
        />
        <Sums
          all={sumsBy(
            ledger.rooms.filter((row) => row.agent_id === id),
            (row) => row.room_id ?? "",
            (row) => row.room_id === null ? <span class="soft">in no room</span> : <Link to={to("rooms", row.room_id)} class="plain cut"><Line>{nameOf(row.room_id)}</Line></Link>,
          )}
          title="By room"
          none="It was given nothing to read."
          rest="hubcli app attention --by-room"
        />
      </div>
    </section>
  );
}
