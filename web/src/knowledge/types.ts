// What the page reads of decisions, artifacts, memory and search.

export interface Decision {
  decision_id: string;
  room_id: string;
  title: string;
  note: string;
  by: string;
  metadata: Record<string, unknown>;
  created_at: string;
}

export interface Artifact {
  artifact_id: string;
  room_id: string;
  title: string;
  kind: string;
  by: string;
  version: number;
  size: number;
  sha256: string;
  content_type: string;
  created_at: string;
  left_out?: string;
}

export interface Content {
  artifact: Artifact;
  content_base64: string;
}

export interface Memory {
  memory_id: string;
  room_id: string | null;
  project_id: string;
  scope: "room" | "project";
  key: string;
  text: string;
  truncated: { chars: number } | null;
  tags: string[];
  by: string;
  created_at: string;
  replaced_at: string | null;
}

export type FoundType = "message" | "decision" | "artifact" | "memory";

export interface Found {
  type: FoundType;
  id: string;
  room_id: string | null;
  channel: string;
  from_agent: string;
  to_agent: string | null;
  title: string;
  snippet: string;
  matches: number[][];
  ts: string;
}
