import { useState } from "preact/hooks";
import { Refused, call } from "../api";
import { reread, useRead } from "../read";
import { Dialog } from "../ui/dialog";
import { Row } from "../ui/rows";
import { Alert, Empty, Pending, refusalOf, wordsOf } from "../ui/said";
import { Line, Text, line } from "../ui/text";
import { Time } from "../ui/time";

type Scope = "global" | "project";

interface Place {
  scope: Scope;
  path: string;
  gone: boolean;
  parts: { part: string; state: string; files: string[]; outdated: boolean; reason: string }[];
}

interface Check {
  scope: Scope;
  path: string;
  check: string;
  status: "passed" | "failed" | "skipped" | "pending";
  detail: string;
  fix: string;
  ms: number;
}

interface Adapter {
  harness: string;
  title: string;
  detected: boolean;
  detected_by: string[];
  scopes: Scope[];
  places: Place[];
  verified: { running: boolean; ok: boolean; ended_at: string | null; checks: Check[] } | null;
}

interface Plan {
  files: { file: string; change: string }[];
  warnings: string[];
  follow_ups: string[];
  prompt: string;
  digest: string;
}

type Doing = "install" | "repair" | "uninstall";

const list = "/v1/adapters";

// Adapters shows how each harness of this machine reaches the hub, those that are here first. Every
// change is shown as it will be, and confirmed by the digest of exactly that plan.
export function Adapters() {
  const { value, error } = useRead<Adapter[]>(list, []);
  const [wanted, setWanted] = useState<Wanted | null>(null);
  if (!value) return <Pending error={error} />;
  const here = value.filter((one) => one.detected || one.places.some(stands));
  const others = value.filter((one) => !here.includes(one));
  return (
    <>
      {wanted && <Planned wanted={wanted} onClose={() => setWanted(null)} />}
      {value.length === 0 && <Empty>This hub knows no harness: it has no data root in which it could keep what it has written.</Empty>}
      {value.length > 0 && here.length === 0 && <Empty>No harness is found on this machine.</Empty>}
      <ul class="rows">
        {here.map((one) => (
          <One key={one.harness} adapter={one} onPlan={setWanted} />
        ))}
      </ul>
      {others.length > 0 && (
        <details>
          <summary>{others.length} harnesses that are not found on this machine</summary>
          <ul class="rows">
            {others.map((one) => (
              <One key={one.harness} adapter={one} onPlan={setWanted} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const stands = (place: Place) => place.parts.some((part) => part.state !== "absent" && part.state !== "unsupported");

const tones: Record<string, string> = { installed: "on", drifted: "warn", conflict: "off", unreadable: "off" };

type OneProps = Pick<ChangeProps, "adapter" | "onPlan">;

function One({ adapter, onPlan }: OneProps) {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState("");
  const verify = async () => {
    setBusy(true);
    const refused = await refusalOf(call("POST", `${list}/${adapter.harness}/verify`, {}));
    const unread = await refusalOf(reread(list)); // the hub keeps a check that failed, too
    setRefused(refused || unread);
    setBusy(false);
  };
  const { verified } = adapter;
  return (
    <Row class="adapter">
      <p class="row">
        <b>
          <Line>{adapter.title}</Line>
        </b>
        <span class="soft grow" title={line(adapter.detected_by.join(", "))}>
          {adapter.detected ? "found on this machine" : "not found on this machine"}
        </span>
        {adapter.places.some(stands) && (
          <button type="button" disabled={busy} onClick={() => void verify()}>
            {busy ? "Trying…" : "Verify"}
          </button>
        )}
      </p>
      {adapter.places.map((place) => (
        <At key={place.scope + place.path} adapter={adapter} place={place} onPlan={onPlan} />
      ))}
      {adapter.scopes.includes("project") && <InProject adapter={adapter} onPlan={onPlan} />}
      <Alert>{refused}</Alert>
      {verified && (
        <>
          <p class={verified.ok ? "on" : "off"}>
            {verified.running ? "It is being tried." : verified.ok ? "Tried, and all is well" : "Tried, and something is wrong"}
            {verified.ended_at && (
              <>
                {" "}
                at <Time at={verified.ended_at} />
              </>
            )}
          </p>
          <ul>
            {verified.checks.map((check, i) => (
              <li key={i}>
                <span class={check.status === "passed" ? "on" : check.status === "failed" ? "off" : "soft"}>{check.status}</span>{" "}
                <Line>{check.check}</Line>
                {check.ms > 0 && ` (${Math.round(check.ms)} ms)`} <span class="soft"><Line>{[check.detail, check.fix].filter(Boolean).join(": ")}</Line></span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Row>
  );
}

function At({ place, ...rest }: OneProps & { place: Place }) {
  const there = stands(place);
  const broken = place.parts.some((part) => part.state === "drifted" || part.outdated);
  return (
    <div class="row">
      <span class="grow">
        {place.scope === "global" ? "For you, everywhere" : <code><Line>{place.path}</Line></code>}
        {place.gone && <span class="warn"> (the folder is gone)</span>}
        {": "}
        {place.parts
          .filter((part) => part.state !== "unsupported")
          .map((part, i) => (
            <span key={part.part} title={line([part.reason, ...part.files].filter(Boolean).join(" · "))}>
              {i > 0 && ", "}
              {part.part} <span class={tones[part.state] ?? "soft"}>{part.outdated ? "outdated" : part.state}</span>
            </span>
          ))}
      </span>
      {!place.gone && <Change {...rest} doing="install" label={there ? "Complete" : "Install"} scope={place.scope} path={place.path} />}
      {broken && <Change {...rest} doing="repair" label="Repair" scope={place.scope} path={place.path} />}
      {(there || place.gone) && <Change {...rest} doing="uninstall" label="Uninstall" scope={place.scope} path={place.path} />}
    </div>
  );
}

function InProject(rest: OneProps) {
  const [path, setPath] = useState("");
  return (
    <details>
      <summary>In the folder of a project</summary>
      <div class="row">
        <input aria-label={`Folder for ${line(rest.adapter.title)}`} placeholder="/home/me/shop" value={path} onInput={(event) => setPath(event.currentTarget.value)} />
        <Change {...rest} doing="install" label="Install there" scope="project" path={path.trim()} />
      </div>
    </details>
  );
}

// planOf asks the hub what would be changed. A repair has no preview: its refusal names the plan.
async function planOf(harness: string, doing: Doing, place: object): Promise<Plan> {
  const at = `${list}/${harness}/`;
  if (doing !== "repair") return call<Plan>("POST", at + (doing === "install" ? "preview" : "preview-uninstall"), place);
  try {
    await call("POST", at + "repair", place);
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "confirmation_required") throw error;
    return { warnings: [], follow_ups: [], ...(error.detail as unknown as Pick<Plan, "prompt" | "digest" | "files">) };
  }
  return { files: [], warnings: [], follow_ups: [], prompt: "", digest: "" };
}

interface Wanted {
  adapter: Adapter;
  doing: Doing;
  label: string;
  scope: Scope;
  path: string;
  plan: Plan;
}

interface ChangeProps extends Omit<Wanted, "plan"> {
  onPlan: (wanted: Wanted) => void;
}

const inputOf = ({ scope, path }: { scope: Scope; path: string }) => (scope === "project" ? { scope, path } : { scope });

// Change is a button that asks for the plan of a change.
function Change({ onPlan, ...wanted }: ChangeProps) {
  const [refused, setRefused] = useState("");
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    try {
      onPlan({ ...wanted, plan: await planOf(wanted.adapter.harness, wanted.doing, inputOf(wanted)) });
      setRefused("");
    } catch (error) {
      setRefused(wordsOf(error));
    }
    setBusy(false);
  };
  const name = [wanted.label + ":", line(wanted.adapter.title), line(wanted.path)].filter(Boolean).join(" ");
  return (
    <>
      <button type="button" disabled={busy} aria-label={name} onClick={() => void look()}>
        {wanted.label}
      </button>
      <Alert>{refused}</Alert>
    </>
  );
}

// Planned shows the plan of a change, and carries it out when it is confirmed.
function Planned({ wanted, onClose }: { wanted: Wanted; onClose: () => void }) {
  const { adapter, doing, label, plan } = wanted;
  const [said, setSaid] = useState<string[] | null>(null);
  const [refused, setRefused] = useState("");
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      const input = { ...inputOf(wanted), confirm: plan.digest };
      const done = await call<{ follow_ups: string[] }>("POST", `${list}/${adapter.harness}/${doing}`, input);
      setSaid(done.follow_ups);
      await reread(list);
      setRefused("");
    } catch (error) {
      setRefused(wordsOf(error));
    }
    setBusy(false);
  };
  const then = said ?? plan.follow_ups;
  return (
    <Dialog title={`${label}: ${line(adapter.title)}`} onClose={onClose}>
      {said ? (
        <p class="on" role="status">
          Done.
        </p>
      ) : (
        <Shown plan={plan} />
      )}
      {then.length > 0 && (
        <>
          <h3>Then it is yours to</h3>
          <ul>
            {then.map((words) => (
              <li key={words}>
                <Line>{words}</Line>
              </li>
            ))}
          </ul>
        </>
      )}
      <Alert>{refused}</Alert>
      <p class="row">
        {!said && plan.files.length > 0 && (
          <button type="button" class={doing === "uninstall" ? "bad" : "main"} disabled={busy} onClick={() => void confirm()}>
            {busy ? "…" : `Confirm: ${label.toLowerCase()}`}
          </button>
        )}
        <button type="button" data-look class="quiet" onClick={onClose}>
          {said ? "Close" : "Cancel"}
        </button>
      </p>
    </Dialog>
  );
}

const Shown = ({ plan }: { plan: Plan }) => (
  <>
    {plan.files.length === 0 && <Empty>Nothing would be changed.</Empty>}
    {plan.prompt && (
      <div class="content mono" tabIndex={0} role="region" aria-label="The plan">
        <Text>{plan.prompt}</Text>
      </div>
    )}
    {plan.warnings.map((words) => (
      <p key={words} class="warn">
        <Line>{words}</Line>
      </p>
    ))}
  </>
);
