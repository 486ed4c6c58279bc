import { useState } from "preact/hooks";
import { call } from "../api";
import { reread, useRead } from "../read";
import { Act } from "../ui/dialog";
import { Row } from "../ui/rows";
import { Alert, Command, Empty, Pending, refusalOf } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age } from "../ui/time";

interface Connection {
  connection_id: string;
  label: string;
  provider_id: string;
  region: string;
  endpoint: string;
  key_source: "none" | "os" | "env" | "needed";
  key_variable: string;
  check: { at: string; ok: boolean; key: string; fault: string; message: string; fix: string } | null;
  models: number;
}

interface Models {
  age_sec: number;
  models: { model_id: string; name: string; context_tokens: number }[];
}

const list = "/v1/connections";

// Connections shows the hosted providers that the hub is connected to. Keys are given in the terminal:
// a page is no place to type one.
export function Connections() {
  const { value, error } = useRead<Connection[]>(list, []);
  if (!value) return <Pending error={error} />;
  return (
    <>
      {value.length === 0 ? (
        <Empty>
          The hub is connected to no provider. Keys are given in the terminal: <Command>hubcli connection create --provider mistral</Command>
        </Empty>
      ) : (
        <p class="soft">
          Keys are given in the terminal: <Command>hubcli connection key LABEL</Command>
        </p>
      )}
      <ul class="rows">
        {value.map((one) => (
          <One key={one.connection_id} connection={one} />
        ))}
      </ul>
    </>
  );
}

const keys = { none: "no key", os: "key in the credential store", env: "key in a variable", needed: "the key has to be given again" };

function One({ connection: one }: { connection: Connection }) {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState("");
  const address = `${list}/${encodeURIComponent(one.connection_id)}`;
  const verify = async () => {
    setBusy(true);
    const refused = await refusalOf(call("POST", address + "/verify"));
    const unread = await refusalOf(Promise.all([reread(list), reread(address + "/models")])); // the hub keeps a check that failed, too
    setRefused(refused || unread);
    setBusy(false);
  };
  return (
    <Row>
      <p class="row">
        <span class="grow">
          <b>
            <Line>{one.label}</Line>
          </b>{" "}
          <span class="soft">
            <Line>{[one.provider_id, one.region].filter(Boolean).join(", ")}</Line> · <Line>{one.endpoint}</Line> ·{" "}
            <span class={one.key_source === "needed" ? "off" : ""}>{keys[one.key_source]}</span>
            {one.key_variable && (
              <>
                {" "}
                <Line>{one.key_variable}</Line>
              </>
            )}
          </span>
        </span>
        <button type="button" disabled={busy} aria-label={`Verify ${line(one.label)}`} onClick={() => void verify()}>
          {busy ? "Asking…" : "Verify"}
        </button>
        <Act
          label="Delete"
          quiet
          title={`Delete the connection ${line(one.label)}?`}
          run={async () => {
            await call("DELETE", address);
            await reread(list);
          }}
        >
          <p>Its models go, and its key if the hub has put it into the credential store.</p>
        </Act>
      </p>
      {one.check && (
        <p class={one.check.ok ? "on" : "off"}>
          {one.check.ok ? `good, ${one.check.key === "proved" ? "key proved" : one.check.key === "none" ? "no key needed" : "key not proved"}` : one.check.fault.replaceAll("_", " ")}{" "}
          <span class="soft">
            <Age at={one.check.at} /> ago <Line>{[one.check.message, one.check.fix].filter(Boolean).join(": ")}</Line>
          </span>
        </p>
      )}
      <Alert>{refused}</Alert>
      {one.models > 0 && <ModelList address={address + "/models"} count={one.models} />}
    </Row>
  );
}

function ModelList({ address, count }: { address: string; count: number }) {
  const [open, setOpen] = useState(false);
  const { value, error } = useRead<Models>(open ? address : null, []);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{count} models</summary>
      {open && !value && <Pending error={error} />}
      <ul>
        {value?.models.map((one) => (
          <li key={one.model_id}>
            <code>
              <Line>{one.model_id}</Line>
            </code>{" "}
            <span class="soft">
              <Line>{one.name}</Line>
              {one.context_tokens > 0 && ` ${one.context_tokens.toLocaleString()} tokens`}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
