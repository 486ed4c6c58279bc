import type { Page } from "../pages";
import { Link, place, to } from "../route";
import { Heading } from "../ui/heading";
import { RoomFilter } from "../ui/places";
import { Empty } from "../ui/said";
import { Tabs } from "../ui/tabs";
import { Artifacts, OneArtifact } from "./artifacts";
import { Decisions, OneDecision } from "./decisions";
import "./knowledge.css";
import { FindMemory, Memory } from "./memory";
import { OneMessage, Results, SearchField } from "./search";

// What a team knows: decisions, artifacts, memory, and a search over all, messages included. An id
// says what it is of, so one place shows each: /ui/knowledge/d_3.
function One({ id }: { id: string }) {
  if (/^d_[0-9a-z]+$/.test(id)) return <OneDecision id={id} />;
  if (/^a_[0-9a-z]+$/.test(id)) return <OneArtifact id={id} />;
  if (/^m_[0-9a-z]+$/.test(id)) return <FindMemory id={id} />;
  if (/^[1-9][0-9]{0,15}$/.test(id)) return <OneMessage id={id} />;
  return (
    <>
      <Heading title="Nothing is here" />
      <Empty>No decision, artifact, memory or message has this id.</Empty>
    </>
  );
}

function Knowledge({ rest }: { rest: readonly string[] }) {
  if (rest[0]) {
    return (
      <>
        <p class="up">
          <Link to={to("knowledge")}>Knowledge</Link>
        </p>
        <One key={rest[0]} id={rest[0]} />
      </>
    );
  }
  const { query } = place.value;
  const q = query.get("q") ?? "";
  const room = query.get("room") ?? "";
  return (
    <>
      <Heading title="Knowledge" />
      <div class="row knowledge-bar">
        <SearchField q={q} />
        <RoomFilter room={room} />
      </div>
      {q.trim() ? (
        <Results q={q} room={room} />
      ) : (
        <Tabs
          label="What the team knows"
          tabs={[
            { name: "decisions", label: "Decisions", view: () => <Decisions room={room} /> },
            { name: "artifacts", label: "Artifacts", view: () => <Artifacts room={room} /> },
            { name: "memory", label: "Memory", view: () => <Memory key={room} room={room} /> },
          ]}
        />
      )}
    </>
  );
}

export const knowledgePage: Page = { name: "knowledge", label: "Knowledge", key: "k", view: Knowledge };
