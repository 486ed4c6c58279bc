import { call } from "../api";
import { pass } from "../pass";
import { useRead } from "../read";
import { Act } from "../ui/dialog";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Pass } from "../wire";

interface License {
  state: string;
  why: string;
  fix?: string;
  expires_at: string | null;
  days_left: number | null;
}

// Access shows who acts as the operator through a pass, and the license of this machine.
export function Access() {
  const passes = useRead<Pass[]>("/v1/passes", ["passes"]);
  const license = useRead<License>("/v1/license", []);
  return (
    <>
      <section aria-labelledby="passes">
        <h2 id="passes">Passes</h2>
        <p class="soft">
          Each stands for you until it ends. <Command>hubcli app open</Command> makes one.
        </p>
        {!passes.value && <Pending error={passes.error} />}
        {passes.value?.length === 0 && <Empty>No pass is in force.</Empty>}
        <ul class="rows">
          {passes.value?.map((one) => (
            <Row key={one.pass_id} class="row">
              <span class="grow">
                <code>{one.pass_id}</code> <Line>{one.label}</Line>
                {one.pass_id === pass.value?.pass_id && (
                  <>
                    {" "}
                    <span class="badge">this tab</span>
                  </>
                )}{" "}
                <span class="soft">
                  <Age at={one.created_at} /> old, until <Time at={one.expires_at} />
                </span>
              </span>
              <Act label="End" quiet title={`End the pass ${line(one.label || one.pass_id)}?`} run={() => call("POST", `/v1/passes/${one.pass_id}/end`, {})}>
                <p>{one.pass_id === pass.value?.pass_id ? "This tab is closed out. hubcli app open opens it again." : "The next call with it is refused."}</p>
              </Act>
            </Row>
          ))}
        </ul>
      </section>
      <section aria-labelledby="license">
        <h2 id="license">License</h2>
        {license.value ? (
          <p>
            <b>{license.value.state.replace("_", " ")}</b>: <Line>{[license.value.why, license.value.fix].filter(Boolean).join("; ")}</Line>
            {license.value.expires_at && (
              <>
                {" "}
                It ends at <Time at={license.value.expires_at} />
                {license.value.days_left !== null && ` (in ${license.value.days_left} days)`}.
              </>
            )}
          </p>
        ) : (
          <Pending error={license.error} />
        )}
      </section>
    </>
  );
}
