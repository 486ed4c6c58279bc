import { useEffect, useState } from "preact/hooks";
import { call, get, temporary } from "../api";
import { Dialog } from "../ui/dialog";
import { Field, Form, Tick, type Values } from "../ui/form";
import { useProjects } from "../ui/places";
import { Alert, Empty, Pending, wordsOf } from "../ui/said";
import { bytes } from "../ui/size";
import { Line, Text, line } from "../ui/text";
import type { Project } from "../wire";

// A plan of an export or of an import. Nothing happens before it is confirmed by its digest.
interface Plan {
  plan_id: string;
  state: "planning" | "ready" | "importing" | "done" | "failed";
  error?: string;
  target?: string;
  path?: string;
  done: number;
  total: number;
  size: number;
  plan_digest: string;
  prompt: string;
  project?: Project | null;
}

type Way = "export" | "import";

interface Summary {
  name: string;
  size: number;
  created_at: string;
  product_version: string;
  scope: string;
  privacy: string;
  encrypted: boolean;
  counts: Record<string, number>;
  signature: { state: string };
}

// Capsules moves a project to a file and back.
export function Capsules() {
  const { value: projects, error } = useProjects();
  const [plan, setPlan] = useState<{ way: Way; plan: Plan } | null>(null);
  return (
    <>
      <p class="soft">A capsule is a project in one file. Paths are those of the machine of the hub.</p>
      {plan && <Planned way={plan.way} first={plan.plan} onClose={() => setPlan(null)} />}
      <div class="cards">
        <section aria-label="Export">
          <h2>Export</h2>
          {!projects && <Pending error={error} />}
          {projects?.length === 0 && <Empty>There is no project.</Empty>}
          {projects && projects.length > 0 && (
            <Form keep label="Plan the export" run={async (values) => setPlan({ way: "export", plan: await planExport(values) }) ?? ""}>
              <Field label="Project">
                <select name="project">
                  {projects.map((one) => (
                    <option key={one.project_id} value={one.project_id}>
                      {line(one.name)}
                    </option>
                  ))}
                </select>
              </Field>
              <Field label="To the file (.hubpack), or to an empty folder for people to read">
                <input name="out" required placeholder="/home/me/shop.hubpack" maxLength={4096} />
              </Field>
              <Field label="What">
                <select name="scope">
                  <option value="knowledge">knowledge: decisions, artifacts, memory, tasks</option>
                  <option value="complete">complete: messages, too</option>
                </select>
              </Field>
              <Tick name="full" label="Full history: direct messages, and nothing that looks like a secret is replaced" />
            </Form>
          )}
        </section>
        <section aria-label="Import">
          <h2>Import</h2>
          <Form
            keep
            label="Plan the import"
            run={async (values) => setPlan({ way: "import", plan: await call<Plan>("POST", "/v1/capsules/import", file(values)) }) ?? ""}
          >
            <File />
          </Form>
        </section>
        <section aria-label="Inspect">
          <h2>Look into one</h2>
          <Form
            keep
            label="Check it"
            run={async (values) => {
              const found = await call<Summary>("POST", "/v1/capsules/inspect", file(values));
              const holds = Object.entries(found.counts).filter(([name, count]) => count > 0 && name !== "blob_bytes").map(([name, count]) => `${count} ${name}`);
              return `${found.name}: ${found.scope}, ${found.privacy}, ${bytes(found.size)}, signature ${found.signature.state}. It holds ${holds.join(", ") || "nothing"}.`;
            }}
          >
            <File />
          </Form>
        </section>
      </div>
    </>
  );
}

const File = () => (
  <>
    <Field label="The file">
      <input name="path" required placeholder="/home/me/shop.hubpack" maxLength={4096} />
    </Field>
    <Field label="If it is encrypted: the file with your identities">
      <input name="identity" maxLength={4096} />
    </Field>
  </>
);

const file = (values: Values) => ({ path: values.text("path"), identity: values.text("identity") || null });

function planExport(values: Values): Promise<Plan> {
  const project = values.text("project");
  const wants = { out: values.text("out"), scope: values.text("scope"), privacy: values.is("full") ? "full_history" : "share_safe" };
  if (/\.hubpack(\.age)?$/.test(wants.out)) return call<Plan>("POST", "/v1/capsules/export", { project, ...wants });
  return get<Plan>(`/v1/projects/${encodeURIComponent(project)}/export?${new URLSearchParams(wants)}`);
}

const pause = 500; // ms between two looks at a plan

// Planned shows a plan while it is made, as it is confirmed, and while it is carried out.
function Planned({ way, first, onClose }: { way: Way; first: Plan; onClose: () => void }) {
  const [plan, setPlan] = useState(first);
  const [refused, setRefused] = useState("");
  const address = `/v1/capsules/${way}/${plan.plan_id}`;
  const moving = plan.state === "planning" || plan.state === "importing";
  useEffect(() => {
    if (!moving) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Plan>(address, stop.signal).then(
        (now) => {
          setPlan(now);
          setRefused("");
        },
        (error) => {
          if (stop.signal.aborted) return;
          setRefused(wordsOf(error));
          if (temporary(error)) setPlan({ ...plan }); // look again
        },
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [plan]);
  const end = () => {
    if (plan.state !== "done" && plan.state !== "failed") call("DELETE", address).catch(() => {}); // it ends by itself, too
    onClose();
  };
  const confirm = () =>
    call<Plan>("POST", address + "/confirm", { confirm: plan.plan_digest }).then(
      (now) => {
        setPlan(now);
        setRefused("");
      },
      (error) => setRefused(wordsOf(error)),
    );
  return (
    <Dialog title={way === "export" ? "Export a project" : "Import a capsule"} onClose={end}>
      {moving && (
        <p role="status">
          {plan.state === "planning" ? "The plan is being made" : "It is being imported"}
          {plan.total > 0 && `: ${Math.floor((100 * plan.done) / plan.total)} %`}
        </p>
      )}
      {moving && <progress max={plan.total || 1} value={plan.done} aria-label="How far it is" />}
      {plan.state === "ready" && (
        <div class="content" tabIndex={0} role="region" aria-label="The plan">
          <Text>{plan.prompt}</Text>
        </div>
      )}
      {plan.state === "failed" && <Alert>{plan.error || "It failed."}</Alert>}
      {plan.state === "done" && (
        <p class="on" role="status">
          {way === "export" ? (
            <>
              It is at <Line>{plan.target ?? ""}</Line>, {bytes(plan.size)}.
            </>
          ) : (
            <>
              The project <Line>{plan.project?.name ?? ""}</Line> is there.
            </>
          )}
        </p>
      )}
      <Alert>{refused}</Alert>
      <p class="row">
        {plan.state === "ready" && (
          <button type="button" class="main" onClick={() => void confirm()}>
            {way === "export" ? "Write it" : "Import it"}
          </button>
        )}
        <button type="button" data-look class="quiet" onClick={end}>
          {plan.state === "done" || plan.state === "failed" ? "Close" : "Cancel"}
        </button>
      </p>
    </Dialog>
  );
}
