import { useRef, useState } from "preact/hooks";
import { call } from "../api";
import { put, useRead } from "../read";
import { Act } from "../ui/dialog";
import { Field, Form, Tick } from "../ui/form";
import { Pick } from "../ui/pick";
import { Row, keysOf } from "../ui/rows";
import { Alert, Command, Empty, Pending, wordsOf } from "../ui/said";
import { Line } from "../ui/text";

// What harnesses do for the hub: their permission prompts, how the operator is told of questions,
// and how many tools they are shown.

interface Rule {
  decision: "allow" | "deny";
  tool: string;
  words?: string[];
  path?: string;
}

interface Permissions {
  on: boolean;
  answer_sec: number;
  rules: Rule[];
  version: number;
}

const permissionsPath = "/v1/permissions";

// save comes back when the page has read what it saved: the next change is made from that version.
const save = (policy: Permissions, change: Partial<Permissions>) => put(permissionsPath, { ...policy, ...change });

export function Prompts() {
  const { value, error } = useRead<Permissions>(permissionsPath, ["settings"]);
  const [refused, setRefused] = useState("");
  const list = useRef<HTMLOListElement>(null);
  if (!value) return <Pending error={error} />;
  const keys = keysOf(value.rules);
  // move keeps the focus with the rule that it moves.
  const move = (i: number, by: number) => {
    const rules = [...value.rules];
    const [rule] = rules.splice(i, 1);
    if (rule) rules.splice(i + by, 0, rule);
    save(value, { rules }).then(
      () => {
        setRefused("");
        requestAnimationFrame(() => {
          const row = list.current?.children[i + by];
          (row?.querySelector<HTMLElement>(`[data-move=${by < 0 ? "up" : "down"}]`) ?? row?.querySelector<HTMLElement>("[data-move]"))?.focus();
        });
      },
      (why) => setRefused(wordsOf(why)),
    );
  };
  return (
    <>
      <p>
        Permission prompts of harnesses {value.on ? <b class="on">come to you</b> : <b>stay with the harnesses</b>}. The first rule that is about a
        prompt decides; without one you are asked.
      </p>
      <div class="cards">
        <section aria-label="Rules">
          <h2>Rules</h2>
          {value.rules.length === 0 && <Empty>There is no rule: you are asked about every prompt{!value.on && ", once prompts come to you"}.</Empty>}
          <ol class="rows" ref={list}>
            {value.rules.map((rule, i) => (
              <Row key={keys[i]} class="row">
                <span class="grow">
                  {i + 1}. <b class={rule.decision === "allow" ? "on" : "off"}>{rule.decision}</b> <Line>{rule.tool}</Line>{" "}
                  {rule.words && (
                    <code>
                      <Line>{rule.words.join(" ")}</Line>
                    </code>
                  )}
                  {rule.path && (
                    <>
                      {" "}
                      in{" "}
                      <code>
                        <Line>{rule.path}</Line>
                      </code>
                    </>
                  )}
                </span>
                {i > 0 && (
                  <button type="button" class="quiet" data-move="up" aria-label={`Move rule ${i + 1} up`} onClick={() => move(i, -1)}>
                    ↑
                  </button>
                )}
                {i < value.rules.length - 1 && (
                  <button type="button" class="quiet" data-move="down" aria-label={`Move rule ${i + 1} down`} onClick={() => move(i, 1)}>
                    ↓
                  </button>
                )}
                <Act label="Remove" quiet title={`Remove rule ${i + 1}?`} run={() => save(value, { rules: value.rules.filter((_, j) => j !== i) })}>
                  <p>Later rules decide then, or you.</p>
                </Act>
              </Row>
            ))}
          </ol>
          <Alert>{refused}</Alert>
          <details>
            <summary>Add a rule</summary>
            <Form
              label="Add the rule"
              run={async (values) => {
                const words = values.text("words").split(/\s+/).filter(Boolean);
                const path = values.text("path");
                const rule = { decision: values.text("decision") as Rule["decision"], tool: values.text("tool"), ...(words.length > 0 && { words }), ...(path && { path }) };
                await save(value, { rules: [...value.rules, rule] });
                return "The rule is the last one now.";
              }}
            >
              <Field label="Decision">
                <select name="decision">
                  <option>allow</option>
                  <option>deny</option>
                </select>
              </Field>
              <Field label="Tool, as the harness calls it, or * for all">
                <input name="tool" required maxLength={200} placeholder="Bash" />
              </Field>
              <Field label="First words of the command">
                <input name="words" placeholder="git push" />
              </Field>
              <Field label="Or a folder, for tools that touch files">
                <input name="path" placeholder="/home/me/shop" maxLength={4096} />
              </Field>
            </Form>
          </details>
        </section>
        <section aria-label="Prompts">
          <h2>Prompts</h2>
          <Form
            label="Save"
            run={async (values) => {
              await save(value, { on: values.is("on"), answer_sec: values.number("wait") ?? 0 });
              return "Saved.";
            }}
          >
            <Tick name="on" on={value.on} label="Prompts come to you. Harnesses need the hook permission for it, which an adapter installs." />
            <Field label="Seconds that a prompt waits for you, before the harness asks its user">
              <input name="wait" type="number" min={1} max={60} defaultValue={value.answer_sec} />
            </Field>
          </Form>
        </section>
      </div>
    </>
  );
}

interface Told {
  command: string[];
  webhook: string;
  remote: boolean;
  version: number;
  last_error: string;
}

const notifyPath = "/v1/notify";
const surfacesPath = "/v1/tool-surface";

export function Notify() {
  const { value, error } = useRead<Told>(notifyPath, ["settings"]);
  if (!value) return <Pending error={error} />;
  return (
    <div class="cards">
      <section aria-label="How you are told">
        <h2>How you are told of new questions</h2>
        {value.last_error && (
          <Alert>{`The latest notification failed: ${value.last_error}`}</Alert>
        )}
        <Form
          label="Save"
          run={async (values) => {
            const command = value.command.length > 0 && values.is("program") ? value.command : [];
            const setting = { command, webhook: values.text("webhook"), remote: values.is("remote") };
            await put(notifyPath, { ...setting, version: value.version });
            return setting.command.length > 0 || setting.webhook ? "Saved." : "Saved: nothing is told.";
          }}
        >
          {value.command.length > 0 && (
            <>
              <Tick name="program" on label="A program tells you:" />
              <p>
                {value.command.map((arg, i) => (
                  <code key={i} class="arg">
                    <Line>{arg}</Line>
                  </code>
                ))}
              </p>
            </>
          )}
          <p class="soft">
            Which program tells you is said in a terminal: <Command>{'hubcli app notify -- notify-send "{agent} asks" "{question}"'}</Command>
          </p>
          <Field label="An address that takes a POST">
            <input name="webhook" type="url" maxLength={2000} defaultValue={value.webhook} placeholder="http://127.0.0.1:9000/ask" />
          </Field>
          <Tick name="remote" on={value.remote} label="The address may be on another machine" />
        </Form>
      </section>
      <section aria-label="Try it">
        <h2>Try it</h2>
        <Form
          label="Send a made-up question"
          run={async () => {
            const said = await call<{ command_error: string; webhook_error: string }>("POST", "/v1/notify/test", {});
            return [said.command_error, said.webhook_error].filter(Boolean).join("; ") || "It was told.";
          }}
        >
          {value.command.length === 0 && !value.webhook && <Empty>Nothing is set, so nothing is told.</Empty>}
        </Form>
      </section>
    </div>
  );
}

interface Surface {
  harness: string;
  surface: "full" | "progressive";
  default: boolean;
}

export function Surfaces() {
  const { value, error } = useRead<Surface[]>(surfacesPath, ["settings"]);
  const [refused, setRefused] = useState("");
  if (!value) return <Pending error={error} />;
  return (
    <>
      <p class="soft">
        How many of the hub's tools a harness is shown: all, or a few that find the others. A bridge asks when it starts.
      </p>
      <Alert>{refused}</Alert>
      <ul class="rows surfaces">
        {value.map((one) => (
          <Row key={one.harness} class="row">
            <span class="grow">
              <Line>{one.harness}</Line>
            </span>
            <Pick
              label={`Tools of ${one.harness}`}
              value={one.default ? "" : one.surface}
              set={(surface) => put(surfacesPath, surface ? { harness: one.harness, surface } : { harness: one.harness })}
              onRefused={setRefused}
            >
              <option value="">default{one.default && `: ${one.surface}`}</option>
              <option value="full">full</option>
              <option value="progressive">progressive</option>
            </Pick>
          </Row>
        ))}
      </ul>
    </>
  );
}
