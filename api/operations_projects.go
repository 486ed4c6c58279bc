package api

import "hubcli/hub"

// projectsOperations are the calls about projects and what is kept in rooms.
var projectsOperations = func() []Operation {
	return []Operation{
		// Lists artifacts without their content, latest first.
		//
		// Query:
		//   - room_id
		//   - title (1..300 runes)
		//   - kind (as Name)
		//   - version (as IDText): Excludes latest.
		//   - latest (as Flag): Only the latest version of each title.
		//   - before
		//   - viewer
		//   - cursor
		//   - limit
		//
		// Answer: Artifacts.
		{
			ID: "listArtifacts", Method: "GET", Path: "/v1/artifacts", Agent: "agent_id",
			Answer: pages[hub.Artifact](), Errors: "room_not_found",
		},
		// Stores the next version of a title.
		//
		// Versions count from 1 for each room and title. The content is any bytes, at most 4194304: a text as body, or
		// anything as content_base64. The room's channel is told with a message of kind artifact, whose
		// metadata.artifact is the id.
		//
		// Answer: The artifact.
		{
			ID: "addArtifact", Method: "POST", Path: "/v1/artifacts", Agent: "by", Body: artifact[hub.ArtifactInput](),
			Answer: row[hub.Artifact](), Makes: MakesRow, Errors: "room_not_found artifact_too_large room_full paused archived",
		},
		// One artifact without its content.
		//
		// Query: viewer
		//
		// Answer: The artifact.
		{
			ID: "getArtifact", Method: "GET", Path: "/v1/artifacts/{artifact_id}", Agent: "agent_id",
			Answer: row[hub.Artifact](), Errors: "artifact_not_found",
		},
		// The content of an artifact, byte for byte.
		//
		// The bytes as they are, as text/plain where the artifact is that and as application/octet-stream otherwise,
		// with the SHA-256 as ETag. With encoding=base64, and always through a spool, the answer is the envelope with
		// the row and the bytes in base 64; application/json is always the envelope.
		//
		// Query:
		//   - encoding (one of base64)
		//   - viewer
		//
		// Answer: The content.
		{
			ID: "getArtifactContent", Method: "GET", Path: "/v1/artifacts/{artifact_id}/content", Agent: "agent_id",
			Answer: row[hub.Content](), Media: "text/plain application/octet-stream", Errors: "artifact_not_found",
		},
		// Lists decisions, latest first.
		//
		// Query: room_id, before, viewer, cursor, limit
		//
		// Answer: Decisions.
		{
			ID: "listDecisions", Method: "GET", Path: "/v1/decisions", Agent: "agent_id",
			Answer: pages[hub.Decision](), Errors: "room_not_found",
		},
		// Records what a room has agreed on.
		//
		// The room's channel is told with a notice, whose metadata.decision is the id. metadata may nest 4 levels
		// deep: the object itself is the first, and each object or array in another is one more.
		//
		// Answer: The decision.
		{
			ID: "addDecision", Method: "POST", Path: "/v1/decisions", Agent: "by", Body: small[hub.DecisionInput](),
			Answer: row[hub.Decision](), Makes: MakesRow, Errors: "room_not_found metadata_too_large metadata_too_deep paused archived",
		},
		// One decision.
		//
		// Query: viewer
		//
		// Answer: The decision.
		{
			ID: "getDecision", Method: "GET", Path: "/v1/decisions/{decision_id}", Agent: "agent_id",
			Answer: row[hub.Decision](), Errors: "decision_not_found",
		},
		// What a room keeps in mind, its project's memory included.
		//
		// Without query the latest first, else the best first, by the words of key, text and tags (as for GET
		// /v1/search). With max_chars the first rows are whole, the first text that does not fit is cut, later ones
		// are left out; truncated says how to fetch them. With query there is no next_cursor: it is the best of what
		// matches, and a cursor is refused.
		//
		// Query:
		//   - room_id required (as Name): The room whose memory it is.
		//   - memory_id (as Name): Only this one, if it is of the room or its project.
		//   - scope (one of room project): The room's own memory or its project's; both if left out.
		//   - key (as Name): Only the memory with this key.
		//   - tag (as Name): Only memories with this tag.
		//   - query: Only memories that hold these words, the best first; at most 1000 characters.
		//   - history (as Flag): Also what was replaced or forgotten.
		//   - cursor
		//   - limit (as CountText): Rows of one answer; clamped to 1000, 20 if left out.
		//   - max_chars (as CountText): Budget of text characters.
		//
		// Answer: Memories.
		{
			ID: "recall", Method: "GET", Path: "/v1/memory",
			Answer: pages[hub.Memory](), Errors: "room_not_found search_unavailable",
		},
		// Keeps something in mind for a room or its project.
		//
		// A memory of the same key in the same scope is replaced and stays as history. A key without a text forgets
		// what the key has; the answer is the row that says so, which is history itself. No message is posted.
		//
		// Answer: The memory.
		{
			ID: "remember", Method: "POST", Path: "/v1/memory", Agent: "by", Body: small[hub.MemoryInput](),
			Answer: row[hub.Memory](), Makes: MakesRow, Errors: "room_not_found memory_not_found text_too_large room_full paused archived",
		},
		// Lists projects by slug.
		//
		// Query:
		//   - archived (as Flag): Archived projects too.
		//   - cursor
		//   - list_limit
		//
		// Answer: All projects.
		{
			ID: "listProjects", Method: "GET", Path: "/v1/projects",
			Answer: pages[hub.Project](),
		},
		// Makes a project.
		//
		// Without a slug one is made of the name. A project of the same slug or, without regard to case, the same name
		// is project_exists, with that one in detail.project.
		//
		// Answer: The project.
		{
			ID: "createProject", Method: "POST", Path: "/v1/projects", Agent: "created_by", Body: small[hub.ProjectInput](),
			Answer: row[hub.Project](), Makes: MakesRow, Errors: "project_exists limit_reached paused",
		},
		// One project.
		//
		// Answer: The project.
		{
			ID: "getProject", Method: "GET", Path: "/v1/projects/{project}",
			Answer: row[hub.Project](), Errors: "project_not_found",
		},
		// Takes a project and its rooms out of lists, or back into them.
		//
		// Nothing is deleted, and every reference goes on to lead to the project and its rooms. A room that was
		// archived by itself stays so when the project comes back.
		//
		// Answer: The project.
		{
			ID: "archiveProject", Method: "PUT", Path: "/v1/projects/{project}/archived", Plane: PlaneOperator, Body: small[hub.ArchiveInput](),
			Answer: row[hub.Project](), Errors: "project_not_found",
		},
		// Plans the export of a project to a folder that people read.
		//
		// The hub renders Markdown, the artifacts as files and lines for programs where nobody sees them, and says
		// exactly what they hold. Nothing of the hub changes, and nothing is at out before the plan is confirmed as
		// the plan of a capsule is. A caller on another machine is refused.
		//
		// Query:
		//   - out required (1..4096 runes): Absolute path on the machine of the hub, of a folder that does not exist
		//     or is empty.
		//   - scope (one of knowledge complete selected_rooms; default complete)
		//   - rooms repeated (each 1..200 runes): Ids, slugs or names; with the scope selected_rooms alone. May be
		//     repeated.
		//   - privacy (one of share_safe full_history; default share_safe)
		//   - artifacts repeated (each 1..200 runes): Binary artifacts that share_safe holds all the same. May be repeated.
		//
		// Answer: The plan.
		{
			ID: "exportProject", Method: "GET", Path: "/v1/projects/{project}/export", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer},
			Answer: row[hub.CapsulePlan](), Errors: "project_not_found room_not_found target_exists limit_reached plan_not_found capsule_too_large",
		},
		// Gives a project another name.
		//
		// The slug stays, so that every reference goes on to lead to it.
		//
		// Answer: The project.
		{
			ID: "renameProject", Method: "PUT", Path: "/v1/projects/{project}/name", Plane: PlaneOperator, Body: small[hub.RenamedInput](),
			Answer: row[hub.Project](), Errors: "project_not_found project_exists",
		},
	}
}
