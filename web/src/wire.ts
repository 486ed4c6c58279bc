// What the page reads of the wire. api/openapi.yaml describes all of it.

export type Envelope<T> =
  | { ok: true; result: T; next_since_id?: number; next_cursor?: string; behind?: number }
  | { ok: false; error: string; code: string; status: number; fix?: string; detail?: Record<string, unknown> };

export interface Pass {
  pass_id: string;
  label: string;
  created_at: string;
  expires_at: string;
}

export interface IssuedPass extends Pass {
  token: string;
}

export interface PassProof {
  run: string;
  ended: boolean;
  proof: string;
  sealed?: string;
}

export interface Message {
  id: number;
  ts: string;
  from_agent: string;
  to_agent: string | null;
  channel: string;
  kind: string;
  body: string;
  room_id: string | null;
  thread_id: string | null;
  reply_to: number | null;
  metadata: Record<string, unknown>;
  authority: Authority;
  attachments?: Attachment[]; // a file of a replay may be from before they were kept in it
}

export interface Attachment {
  type: string;
  content?: unknown;
  language?: string;
  path?: string;
  description?: string;
  start_line?: number;
  end_line?: number;
  base?: string;
  head?: string;
}

export type Authority = "agent" | "operator" | "system";

export type Presence = "live" | "away" | "gone";
export type Activity = "working" | "idle" | "waiting" | "blocked" | "at_prompt" | "no_terminal" | "stuck";

export interface Agent {
  agent_id: string;
  display_name: string;
  presence: Presence;
  activity: Activity;
  activity_since: string | null;
  prompt_tool: string;
  last_seen: string;
  listener: "armed" | "none";
  details?: {
    rooms: string[];
    unread: number;
    current_task_id: number | null;
    watching: string[];
    given_hour: number;
    budget: number;
    paused: Pause | null;
    muted: object | null;
  } | null;
}

export interface Pause {
  agent_id: string | null;
  room_id: string | null;
  all: boolean;
  words: string;
  by: string;
  since: string;
}

export interface Ask {
  ask_id: string;
  agent_id: string;
  question: string;
  options: string[];
  default: string | null;
  deadline_at: string | null;
  room_id: string | null;
  blocks: number | null;
  permission: { tool: string; folder: string } | null;
  created_at: string;
  digest?: string; // names what was asked; an answer sends it back
}

// ClosedAsk is a question that is no longer open.
export interface ClosedAsk extends Ask {
  state: "open" | "answered" | "withdrawn" | "expired";
  answer: string | null;
  closed_by: string;
  reason: string;
}

export interface Room {
  room_id: string;
  project_id: string;
  name: string;
  slug: string;
  topic: string;
  channel: string;
  created_by: string;
  created_at: string;
  guard_hops?: number | null;
  archived?: boolean;
}

export interface Project {
  project_id: string;
  slug: string;
  name: string;
}

export interface Wait {
  waiter: string;
  for: string;
  reason: string;
  what: string;
  since: string | null;
  task_id?: number;
}

export interface Trouble {
  kind: string;
  text: string;
  agents: string[];
  task_id?: number;
}

export interface Overview {
  at: string;
  trouble: Trouble[];
  waits: Wait[];
  circles: string[][];
  cut: string[];
  more?: Record<string, string>; // lists that lack rows
}

export interface Status {
  version: string;
  instance_id: string;
  uptime_sec: number;
  counts: { sessions: number; messages: number; open_tasks: number; leases: number };
  journal: { state: string };
}

export type ChangedKind =
  | "agents"
  | "tasks"
  | "runs"
  | "leases"
  | "seats"
  | "asks"
  | "pauses"
  | "mutes"
  | "budgets"
  | "rooms"
  | "decisions"
  | "artifacts"
  | "memory"
  | "invites"
  | "spawns"
  | "settings"
  | "passes"
  | "messages";

export interface Changed {
  at: string;
  seq: number;
  kinds: ChangedKind[];
  rooms: string[];
  tasks: number[];
  agents: string[];
  cut: boolean;
}

export interface Waiter {
  agent_id: string;
  since: string;
}

export interface Claim {
  claim_key: string;
  owner_agent_id: string;
  claimed_at: string;
  expires_at: string;
  task_message_id: number | null;
  fence: number;
  metadata?: Record<string, unknown>;
  waiters?: Waiter[];
}

export interface Lock {
  file_path: string;
  agent_id: string;
  locked_at: string;
  expires_at: string;
  fence: number;
  metadata?: Record<string, unknown>;
  waiters?: Waiter[];
}

export type TaskStatus = "open" | "working" | "input_required" | "done" | "failed" | "cancelled";

export interface Task {
  task_id: number;
  parent_task_id: number | null;
  run_id: string | null;
  room_id: string | null;
  thread_id: string | null;
  title: string;
  status: TaskStatus;
  assignee: string | null;
  offered_to: string | null;
  blocked_by: number[];
  ready: boolean;
  version: number;
  created_by: string;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
}

export interface Decision {
  decision_id: string;
  room_id: string;
  title: string;
  note: string;
  by: string;
  created_at: string;
}

export interface Seat {
  agent_id: string;
  role: string;
  harness: string;
  joined_at: string;
  presence: Presence;
  activity: Activity;
  activity_since: string | null;
  prompt_tool: string;
  current_task_id: number | null;
  unread: number;
  listener: "armed" | "none" | "unknown";
}

export interface Held {
  key: string;
  agent_id: string;
  age_sec: number;
}

export interface RoomStatus {
  room: Room;
  project: Project;
  seats: Seat[];
  seat_count: number;
  gone_count: number;
  open_tasks: Task[];
  open_task_count: number;
  claims: Held[];
  locks: Held[];
  not_listening: string[];
}

export interface Memory {
  memory_id: string;
  scope: "room" | "project";
  key: string;
  text: string;
  tags: string[];
  by: string;
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
  created_at: string;
}

export interface Budget {
  agent_id: string | null;
  room_id: string | null;
  chars: number;
}

// Given is how much an agent was given of what another has written, by one path.
export interface Given {
  agent_id: string;
  from_agent: string;
  path: "poll" | "inbox" | "stream" | "watch" | "hook";
  messages: number;
  chars: number;
}

// GivenIn is how much an agent was given of what was said in a room; null: in none.
export interface GivenIn {
  agent_id: string;
  room_id: string | null;
  messages: number;
  chars: number;
}

export interface Ledger {
  since: string;
  rows: Given[];
  rooms: GivenIn[];
}
