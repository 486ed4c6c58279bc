import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import type { Page } from "../pages";
import { useRead } from "../read";
import { Heading } from "../ui/heading";
import { Alert, Command, Empty, Pending, wordsOf } from "../ui/said";
import { bytes } from "../ui/size";
import { Line } from "../ui/text";
import { Time, span } from "../ui/time";
import { Chart } from "./chart";
import "./health.css";
import { Inside, type Debug } from "./inside";
import { begin, every, failed, level, rate, samples, spread, type Sample } from "./samples";

interface Status {
  version: string;
  instance_id: string;
  pid: number;
  uptime_sec: number;
  storage_path: string;
  listen_address: string;
  counts: Record<string, number>;
  search: { open: boolean; documents: number; behind: number };
  journal: { head: number; last_sync_ms: number; free_bytes: number; state: "ok" | "full" | "failed" };
  quarantined: { owner: string; seq: number; reason: string }[];
}

const perSecond = (value: number) => `${value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString()} /s`;
const ms = (value: number) => `${value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString()} ms`;
const whole = (value: number) => Math.round(value).toLocaleString();

// Charts shows what the tab has seen.
function Charts({ rows }: { rows: readonly Sample[] }) {
  const wake = rows.slice(-12).flatMap((row) => row.wake);
  const worst = spread(wake, 0.99);
  const cpu = rate(rows, (row) => row.cpuSec).map((point) => ({ ...point, value: point.value === null ? null : point.value * 100 }));
  const woken = rows.map((row) => ({ at: row.at, value: spread(row.wake, 0.5) }));
  const known = woken.filter((point) => point.value !== null);
  return (
    <div class="charts">
      <Chart name="Messages" points={rate(rows, (row) => row.messages)} format={perSecond} />
      <Chart
        name="Delay to this page"
        points={known}
        format={ms}
        about={worst === null ? "none came yet" : `p99 ${ms(worst)}`}
      />
      <Chart name="Calls" points={rate(rows, (row) => row.calls)} format={perSecond} />
      <Chart name="Refused calls" points={rate(rows, (row) => row.refused)} format={perSecond} />
      <Chart name="Records written" points={rate(rows, (row) => row.records)} format={perSecond} />
      <Chart name="Last commit" points={level(rows, (row) => row.syncMs)} format={ms} />
      <Chart name="Calls that wait" points={level(rows, (row) => row.parked)} format={whole} />
      <Chart name="Memory" points={level(rows, (row) => row.memory)} format={bytes} />
      <Chart name="Processor" points={cpu} format={(value) => `${value.toFixed(value < 9.95 ? 1 : 0)} %`} about="of one core" />
      <Chart name="Search is behind" points={level(rows, (row) => row.behind)} format={whole} about="rows" />
    </div>
  );
}

const states = { ok: "takes writes", full: "the disk is full: nothing is written", failed: "the disk failed: nothing is written" };

function Store({ status }: { status: Status }) {
  const { journal, search, counts } = status;
  return (
    <dl class="facts">
      <dt>Store</dt>
      <dd>
        <span class={journal.state === "ok" ? "on" : "off"}>{states[journal.state]}</span>, {bytes(journal.free_bytes)} free
      </dd>
      <dt>At</dt>
      <dd>
        <code>
          <Line>{status.storage_path}</Line>
        </code>
      </dd>
      <dt>Holds</dt>
      <dd>
        {whole(counts["messages"] ?? 0)} messages, {whole(journal.head)} records, {whole(counts["channels"] ?? 0)} channels
      </dd>
      <dt>Now</dt>
      <dd>
        {whole(counts["sessions"] ?? 0)} sessions, {whole(counts["open_tasks"] ?? 0)} open tasks, {whole(counts["leases"] ?? 0)} leases,{" "}
        {whole(counts["spawns"] ?? 0)} spawns
      </dd>
      <dt>Search</dt>
      <dd>{search.open ? `${whole(search.documents)} rows in the index` : <span class="warn">the index is not open yet</span>}</dd>
      <dt>Hub</dt>
      <dd>
        version <Line>{status.version}</Line>, process {status.pid}, up {span(status.uptime_sec * 1000)}, at <Line>{status.listen_address}</Line>
      </dd>
    </dl>
  );
}

const Quarantine = ({ status }: { status: Status }) => (
  <section aria-labelledby="quarantine">
    <h2 id="quarantine">Quarantine</h2>
    {status.quarantined.length === 0 ? (
      <Empty>No part of the hub is in quarantine.</Empty>
    ) : (
      <>
        <Alert>These parts met a record that they could not apply, and refuse calls until the hub starts anew.</Alert>
        <ul class="rows">
          {status.quarantined.map((one) => (
            <li key={one.owner} class="item">
              <b>
                <Line>{one.owner}</Line>
              </b>{" "}
              at record {one.seq}: <Line>{one.reason}</Line>
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
);

function Health() {
  const status = useRead<Status>("/v1/app/status", ["agents", "settings"]);
  const [debug, setDebug] = useState<Debug | null>(null);
  const [refused, setRefused] = useState("");
  useEffect(begin, []);
  const rows = samples.value;
  const look = () =>
    get<Debug>("/v1/app/debug").then(
      (found) => {
        setDebug(found);
        setRefused("");
      },
      (error) => setRefused(wordsOf(error)),
    );
  return (
    <>
      <Heading title="Health" />
      {!status.value && <Pending error={status.error} />}
      {status.value && <Store status={status.value} />}
      <section aria-labelledby="figures">
        <h2 id="figures">Figures</h2>
        <p class="soft">
          {rows[0] ? (
            <>
              Taken every {every / 1000} s since <Time at={rows[0].at} />, by this tab alone: the hub keeps no history.
            </>
          ) : (
            "The first figures are being taken…"
          )}
        </p>
        <Alert>{failed.value}</Alert>
        <Charts rows={rows} />
      </section>
      {status.value && <Quarantine status={status.value} />}
      <section aria-labelledby="inside">
        <div class="row">
          <h2 id="inside">Inside the hub</h2>
          <button type="button" data-look onClick={() => void look()}>
            {debug ? "Look again" : "Look now"}
          </button>
          <span class="soft">
            as <Command>hubcli app debug</Command> does, when something hangs
          </span>
        </div>
        <Alert>{refused}</Alert>
        {debug && <Inside debug={debug} />}
      </section>
    </>
  );
}

export const healthPage: Page = { name: "health", label: "Health", key: "h", view: Health };
