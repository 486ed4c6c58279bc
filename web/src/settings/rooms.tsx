import { useState } from "preact/hooks";
import { call } from "../api";
import { put, reread, useRead } from "../read";
import { Link, to } from "../route";
import { Act } from "../ui/dialog";
import { Field, Form, Tick } from "../ui/form";
import { Heading } from "../ui/heading";
import { Row } from "../ui/rows";
import { Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age } from "../ui/time";
import type { Project, Room } from "../wire";

interface WholeProject extends Project {
  archived?: boolean;
  created_at: string;
}

interface WholeRoom extends Room {
  bindings: string[];
  locks: "warn" | "refuse";
  allowed_hosts?: string[];
  archived_with_project?: boolean;
}

const most = 200; // rooms that are shown at once
const allProjects = "/v1/projects?archived=true&limit=1000";
const allRooms = "/v1/rooms?archived=true&limit=1000";

const at = (...parts: string[]) => "/v1/" + parts.map(encodeURIComponent).join("/");

// Rooms lists projects with their rooms, archived ones too, and makes new ones.
export function Rooms() {
  const projects = useRead<WholeProject[]>(allProjects, ["rooms"]);
  const rooms = useRead<WholeRoom[]>(allRooms, ["rooms"]);
  const [filter, setFilter] = useState("");
  if (!projects.value || !rooms.value) return <Pending error={projects.error ?? rooms.error} />;
  const wanted = filter.toLowerCase();
  const all = rooms.value;
  const found = all.filter((room) => `${room.name} ${room.slug} ${room.topic}`.toLowerCase().includes(wanted));
  const shown = found.slice(0, most);
  const kept = projects.value.filter((project) => !wanted || shown.some((room) => room.project_id === project.project_id));
  return (
    <>
      <div class="makers">
        <NewProject />
        {projects.value.length > 0 && <NewRoom projects={projects.value.filter((one) => !one.archived)} />}
      </div>
      {projects.value.length === 0 && <Empty>There is no project. A project has rooms, and a room is where a team works.</Empty>}
      {rooms.value.length > 7 && (
        <input
          data-search
          type="search"
          aria-label="Filter rooms"
          placeholder="filter rooms"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {kept.map((project) => (
        <OneProject key={project.project_id} project={project} rooms={shown.filter((room) => room.project_id === project.project_id)} none={!rooms.next && !all.some((room) => room.project_id === project.project_id)} />
      ))}
      {found.length > most && <p class="warn">The first {most} of {found.length} rooms are shown. Filter to find the others.</p>}
      {rooms.next && <p class="warn">The hub has more rooms than the {all.length} that are listed and filtered here; hubcli room list lists all.</p>}
    </>
  );
}

const NewProject = () => (
  <details>
    <summary>Make a project</summary>
    <Form
      label="Make the project"
      run={async (values) => {
        const made = await call<Project>("POST", "/v1/projects", { name: values.text("name") });
        await reread(allProjects);
        return `${made.name} is made.`;
      }}
    >
      <Field label="Name">
        <input name="name" required maxLength={200} />
      </Field>
    </Form>
  </details>
);

const NewRoom = ({ projects }: { projects: WholeProject[] }) => (
  <details>
    <summary>Make a room</summary>
    <Form
      label="Make the room"
      run={async (values) => {
        const force = values.text("why");
        const more = force ? { force: true, force_reason: force } : {};
        const made = await call<Room>("POST", "/v1/rooms", { project: values.text("project"), name: values.text("name"), topic: values.text("topic"), ...more });
        await reread(allRooms);
        return `${made.name} is made.`;
      }}
    >
      <Field label="Project">
        <select name="project">
          {projects.map((one) => (
            <option key={one.project_id} value={one.project_id}>
              {line(one.name)}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Name">
        <input name="name" required maxLength={200} />
      </Field>
      <Field label="Topic">
        <input name="topic" maxLength={1000} />
      </Field>
      <Field label="If a room looks like it: why a second one is right">
        <input name="why" maxLength={1000} />
      </Field>
    </Form>
  </details>
);

function OneProject({ project, rooms, none }: { project: WholeProject; rooms: WholeRoom[]; none: boolean }) {
  const address = at("projects", project.project_id);
  return (
    <section aria-label={`Project ${line(project.name)}`}>
      <div class="row">
        <h2>
          <Line>{project.name}</Line>
        </h2>
        <code>{project.slug}</code>
        {project.archived && <span class="badge">archived</span>}
        <details class="inline">
          <summary>Rename</summary>
          <Rename address={address} name={project.name} shownBy={allProjects} />
        </details>
        {project.archived ? (
          <Act label="Bring back" quiet title={`Bring ${line(project.name)} back?`} run={() => call("PUT", address + "/archived", { archived: false })}>
            <p>The project and the rooms that were archived with it are listed again.</p>
          </Act>
        ) : (
          <Act label="Archive" quiet title={`Archive ${line(project.name)}?`} run={() => call("PUT", address + "/archived", { archived: true })}>
            <p>The project and its rooms leave the lists, and nobody posts there. Nothing is deleted, and it can be brought back.</p>
          </Act>
        )}
      </div>
      {none && <Empty>It has no room.</Empty>}
      <ul class="rows">
        {rooms.map((room) => (
          <Row key={room.room_id}>
            <Link to={to("settings", room.room_id)} class="strong" data-open="">
              <Line>{room.name}</Line>
            </Link>{" "}
            {room.archived && <span class="badge">archived</span>}{" "}
            <span class="soft">
              {room.topic && (
                <>
                  <Line>{room.topic}</Line> ·{" "}
                </>
              )}
              {room.bindings.length === 0 ? "no folder" : room.bindings.length === 1 ? "1 folder" : `${room.bindings.length} folders`} ·{" "}
              <Age at={room.created_at} /> old
            </span>
          </Row>
        ))}
      </ul>
    </section>
  );
}

// Rename gives a project or a room another name. shownBy is the path that the page reads the name from.
const Rename = ({ address, name, shownBy }: { address: string; name: string; shownBy: string }) => (
  <Form
    label="Rename"
    run={async (values) => {
      await put(address + "/name", { name: values.text("name") }, shownBy);
      return "Renamed. Its slug stays, so what refers to it still leads here.";
    }}
  >
    <Field label="New name">
      <input name="name" required maxLength={200} defaultValue={name} />
    </Field>
  </Form>
);

// OneRoom is what the operator sets of a room.
export function OneRoom({ id }: { id: string }) {
  const { value: room, error } = useRead<WholeRoom>(at("rooms", id), ["rooms"]);
  const address = at("rooms", id);
  return (
    <>
      <Heading title={room?.name ?? id}>
        <Line>{room?.name ?? id}</Line>
      </Heading>
      {!room && <Pending error={error} />}
      {room && (
        <>
          <p class="row">
            <Link to={to("rooms", id)}>Go to the room</Link>
            <code>{room.slug}</code>
            {room.archived && <span class="badge">archived</span>}
            {room.archived && !room.archived_with_project && (
              <Act label="Bring back" title={`Bring ${line(room.name)} back?`} run={() => call("PUT", address + "/archived", { archived: false })} />
            )}
            {!room.archived && (
              <Act label="Archive" title={`Archive ${line(room.name)}?`} run={() => call("PUT", address + "/archived", { archived: true })}>
                <p>The room leaves the lists, and posts and new tasks there are refused. Nothing is deleted, and it can be brought back.</p>
              </Act>
            )}
          </p>
          <div class="cards">
            <section aria-label="Name">
              <h2>Name</h2>
              <Rename address={address} name={room.name} shownBy={address} />
            </section>
            <Bindings room={room} address={address} />
            <Hosts room={room} address={address} />
            <Rules room={room} address={address} />
          </div>
        </>
      )}
    </>
  );
}

interface PartProps {
  room: WholeRoom;
  address: string;
}

const Bindings = ({ room, address }: PartProps) => (
  <section aria-label="Folders">
    <h2>Folders</h2>
    {room.bindings.length === 0 && <Empty>No folder is bound: agents that start in a folder do not find this room by it.</Empty>}
    <ul class="rows">
      {room.bindings.map((path) => (
        <Row key={path} class="row">
          <code class="grow">
            <Line>{path}</Line>
          </code>
          <Act label="Unbind" quiet title="Unbind this folder?" run={() => call("DELETE", address + "/binding", { path })}>
            <p>
              <code>
                <Line>{path}</Line>
              </code>{" "}
              no longer leads agents here. The folder stays as it is.
            </p>
          </Act>
        </Row>
      ))}
    </ul>
    <Form
      label="Bind"
      run={async (values) => {
        await put(address + "/binding", { path: values.text("path") }, address);
        return "The folder is bound.";
      }}
    >
      <Field label="A folder of the machine of the hub">
        <input name="path" required placeholder="/home/me/shop" maxLength={4096} />
      </Field>
    </Form>
  </section>
);

const Hosts = ({ room, address }: PartProps) => (
  <section aria-label="Hosts">
    <h2>Hosts for its browser</h2>
    {!room.allowed_hosts?.length && <Empty>The browser of the room reaches the public internet alone.</Empty>}
    <ul class="rows">
      {room.allowed_hosts?.map((host) => (
        <Row key={host} class="row">
          <code class="grow">
            <Line>{host}</Line>
          </code>
          <Act label="Take back" about={host} quiet title="Take this host back?" run={() => call("PUT", address + "/hosts", { host, remove: true })}>
            <p>
              The browser of the room does not reach{" "}
              <code>
                <Line>{host}</Line>
              </code>{" "}
              any more.
            </p>
          </Act>
        </Row>
      ))}
    </ul>
    <Form
      label="Allow"
      run={async (values) => {
        await put(address + "/hosts", { host: values.text("host") }, address);
        return "The host is allowed.";
      }}
    >
      <Field label="A host without a public address">
        <input name="host" required placeholder="localhost:3000" maxLength={262} />
      </Field>
    </Form>
  </section>
);

const Rules = ({ room, address }: PartProps) => (
  <section aria-label="Rules">
    <h2>Rules</h2>
    <Form
      label="Save"
      run={async (values) => {
        await call("PUT", address + "/locks", { locks: values.is("refuse") ? "refuse" : "warn" });
        await put(address + "/guard", { hops: values.number("hops") }, address);
        return "Saved.";
      }}
    >
      <Tick name="refuse" on={room.locks === "refuse"} label="An edit of a file that another agent has locked is refused, not just warned of" />
      <Field label="Posts in turn without progress before agents are refused (4 to 1000; empty: never, but slowed; 0: not watched)">
        <input name="hops" type="number" min={0} max={1000} defaultValue={room.guard_hops ?? ""} />
      </Field>
    </Form>
  </section>
);
