import { Act } from "../ui/dialog";
import { AgentLink, TaskLink } from "../ui/links";
import { Row } from "../ui/rows";
import { Line } from "../ui/text";
import { Age, Left } from "../ui/time";
import { breakIt, type Held } from "./held";
import "./leases.css";

const kinds = { claim: "claim", lock: "file lock" };

function Break({ one }: { one: Held }) {
  return (
    <Act
      label="Break"
      about={`the ${kinds[one.kind]} ${one.name}`}
      title={`Break this ${kinds[one.kind]}?`}
      reason="Why? The holder and those who wait are told."
      run={(reason) => breakIt(one, reason)}
    >
      <p>
        <b>
          <Line>{one.name}</Line>
        </b>{" "}
        is taken from <Line>{one.holder}</Line>, whose program may still act on it: a higher fence refuses it where fences are checked.{" "}
        {one.waiters[0] ? (
          <>
            <Line>{one.waiters[0].agent_id}</Line> gets it.
          </>
        ) : (
          "Nobody waits for it."
        )}
      </p>
    </Act>
  );
}

function Waiters({ one }: { one: Held }) {
  const shown = one.waiters.slice(0, 5);
  if (shown.length === 0) return null;
  return (
    <span class="waiters">
      <span class="warn">waited for by</span>{" "}
      {shown.map((waiter, i) => (
        <span key={waiter.agent_id}>
          {i > 0 && ", "}
          <AgentLink id={waiter.agent_id} />{" "}
          <span class="soft">
            for <Age at={waiter.since} />
          </span>
        </span>
      ))}
      {one.waiters.length > shown.length && ` and ${one.waiters.length - shown.length} more`}
    </span>
  );
}

// LeaseRows shows leases, each with its end and the button that breaks it.
export function LeaseRows({ rows, label, holder = true }: { rows: readonly Held[]; label: string; holder?: boolean }) {
  return (
    <ul class="rows" aria-label={label}>
      {rows.map((one) => (
        <Row key={one.kind + one.name} class="lease">
          <span class="name">
            {one.kind === "lock" && <span class="badge">file</span>} <Line>{one.name}</Line>
            {one.task !== null && (
              <>
                {" "}
                <span class="soft">for</span> <TaskLink id={one.task} />
              </>
            )}
            <Waiters one={one} />
          </span>
          {holder && <AgentLink id={one.holder} />}
          <span class="times soft">
            <span>
              held <Age at={one.at} />
            </span>
            <span>
              ends in <Left until={one.until} />
            </span>
            <span title="Rises with every grant of any lease">fence {one.fence}</span>
          </span>
          <Break one={one} />
        </Row>
      ))}
    </ul>
  );
}
