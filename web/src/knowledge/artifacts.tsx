import { useRead } from "../read";
import { Link, go, place, setQuery, to } from "../route";
import { Heading } from "../ui/heading";
import { Older, pageOf, pageSize } from "../ui/older";
import { Person } from "../ui/person";
import { RoomName, Then } from "../ui/places";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { bytes } from "../ui/size";
import { Line } from "../ui/text";
import { Age, Time } from "../ui/time";
import { Compared, Shown } from "./content";
import { By } from "./decisions";
import type { Artifact } from "./types";

// Artifacts lists the latest version of each.
export function Artifacts({ room }: { room: string }) {
  const where = room ? `&room_id=${encodeURIComponent(room)}` : "";
  const { value, error } = useRead<Artifact[]>(`/v1/artifacts?latest=true&${pageOf("a_")}${where}`, ["artifacts"], room ? { room } : {});
  if (!value) return <Pending error={error} />;
  if (value.length === 0) {
    return (
      <Empty>
        There is no artifact{room && " in this room"}. <Command>hubcli artifact add --room ROOM --title NAME --file FILE</Command> keeps one, with all its
        versions.
      </Empty>
    );
  }
  return (
    <>
      <ul class="rows">
        {value.slice(0, pageSize).map((one) => (
          <Row key={one.artifact_id} class="known">
            <Link to={to("knowledge", one.artifact_id)} class="strong" data-open="">
              <Line>{one.title}</Line>
            </Link>{" "}
            <span class="badge">version {one.version}</span>{" "}
            <span class="soft">
              <Line>{one.kind}</Line> · {bytes(one.size)}
            </span>
            <By by={one.by} room={room ? "" : one.room_id} at={one.created_at} />
          </Row>
        ))}
      </ul>
      <Older ids={value.map((one) => one.artifact_id)} prefix="a_" />
    </>
  );
}

// OneArtifact shows a version: what it holds, or what it changes of another version.
export function OneArtifact({ id }: { id: string }) {
  const { value: one, error } = useRead<Artifact>(`/v1/artifacts/${encodeURIComponent(id)}`, []);
  const versions = useRead<Artifact[]>(
    one ? `/v1/artifacts?room_id=${one.room_id}&title=${encodeURIComponent(one.title)}&limit=1000` : null,
    ["artifacts"],
    one ? { room: one.room_id } : {},
  ).value;
  const other = versions?.find((row) => row.artifact_id === place.value.query.get("with"));
  return (
    <article class="known-one">
      <Heading title={one?.title ?? id}>
        <Line>{one?.title ?? id}</Line>
      </Heading>
      {!one && <Pending error={error} />}
      {one && (
        <>
          <Facts one={one} />
          {versions && <Versions one={one} versions={versions} other={other} />}
          {other && one ? <Compared key={`${other.artifact_id} ${one.artifact_id}`} old={other.version < one.version ? other : one} now={other.version < one.version ? one : other} /> : <Shown one={one} />}
        </>
      )}
    </article>
  );
}

const Facts = ({ one }: { one: Artifact }) => (
  <dl class="facts">
    <dt>Version</dt>
    <dd>{one.version}</dd>
    <dt>By</dt>
    <dd>{one.by ? <Person id={one.by} /> : "nobody named"}</dd>
    <dt>In</dt>
    <dd>
      <RoomName id={one.room_id} />
    </dd>
    <dt>At</dt>
    <dd>
      <Time at={one.created_at} /> · <Then room={one.room_id} at={one.created_at} />
    </dd>
    <dt>Kind</dt>
    <dd>
      <Line>{one.kind}</Line>, <Line>{one.content_type}</Line>, {bytes(one.size)}
    </dd>
    <dt>SHA-256</dt>
    <dd>
      <code class="cut" title={one.sha256}>
        {one.sha256}
      </code>
    </dd>
  </dl>
);

// Versions leads to the other versions, and chooses with which one this is compared.
function Versions({ one, versions, other }: { one: Artifact; versions: Artifact[]; other: Artifact | undefined }) {
  const latest = versions[0];
  const others = versions.filter((row) => row.artifact_id !== one.artifact_id);
  const before = others.find((row) => row.version < one.version);
  return (
    <div class="row versions">
      <label>
        Version{" "}
        <select
          value={one.artifact_id}
          onChange={(event) => go(to("knowledge", event.currentTarget.value))}
        >
          {versions.map((row) => (
            <option key={row.artifact_id} value={row.artifact_id}>
              {row.version}
            </option>
          ))}
        </select>
      </label>
      <label>
        compared with{" "}
        <select value={other?.artifact_id ?? ""} onChange={(event) => setQuery({ with: event.currentTarget.value })}>
          <option value="">nothing</option>
          {others.map((row) => (
            <option key={row.artifact_id} value={row.artifact_id}>
              version {row.version}
            </option>
          ))}
        </select>
      </label>
      {before && !other && (
        <button type="button" data-look onClick={() => setQuery({ with: before.artifact_id })}>
          What has changed since version {before.version}
        </button>
      )}
      {latest && latest.version > one.version && (
        <span class="warn">
          An earlier version. <Link to={to("knowledge", latest.artifact_id)}>Version {latest.version}</Link> is{" "}
          <Age at={latest.created_at} /> old.
        </span>
      )}
      {versions.length === 1000 && <span class="soft">The latest 1,000 versions are listed.</span>}
    </div>
  );
}
