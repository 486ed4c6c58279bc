package api

import "hubcli/hub"

// roomsOperations are the calls about rooms and invites.
var roomsOperations = func() []Operation {
	return []Operation{
		// Lists invites without their codes, latest first.
		//
		// Query:
		//   - project (as Name): An id, slug or name.
		//   - room (as Name): An id; with project also a slug or name.
		//   - state (as InviteState)
		//   - before
		//   - viewer
		//   - cursor
		//   - limit
		//
		// Answer: Invites.
		{
			ID: "listInvites", Method: "GET", Path: "/v1/invites", Agent: "agent_id",
			Answer: pages[hub.Invite](), Errors: "project_not_found room_not_found",
		},
		// Makes an invite to a room.
		//
		// The code is in this answer only, and in its repetition under the same idempotency key.
		//
		// Answer: The invite.
		{
			ID: "createInvite", Method: "POST", Path: "/v1/invites", Agent: "by", Body: small[hub.InviteInput](),
			Answer: row[hub.Invite](), Makes: MakesRow, Errors: "project_not_found room_not_found room_full archived paused",
		},
		// Shows where a code leads, and uses nothing up.
		//
		// Needs no session from anywhere. An invite that is over is shown as that. Codes are taken in any case, with
		// or without the hyphen, O for 0 and I or L for 1. Wrong codes are slowed down for where they come from.
		//
		// Answer: The invite and where it leads.
		{
			ID: "previewInvite", Method: "GET", Path: "/v1/invites/{code}", Auth: AuthOptional, Secret: true,
			Answer: row[hub.InvitePreview](), Errors: "invite_not_found too_many_attempts",
		},
		// Joins a room.
		//
		// Needs no session from anywhere. Gives the agent a seat in the room and begins its session; the answer
		// carries both secrets. Accepting again as the same agent uses nothing up. A live agent keeps its session: a
		// call that has proved to be it gets that session again. One that has not gets another name, of which
		// requested tells. Where the agent has a seat in the room already, it gets the public row of the agent without
		// a key, and live. From another machine the name of any agent that is known is taken. With an idempotency key a call that was
		// lost gives the same answer again.
		//
		// Answer: The seat and the session.
		{
			ID: "acceptInvite", Method: "POST", Path: "/v1/invites/{code}/accept", Auth: AuthOptional, Agent: "agent_id", Body: small[hub.AcceptInput](), Secret: true,
			Answer: row[hub.Joined](), Makes: MakesRow, Errors: "invite_not_found invite_expired invite_exhausted invite_revoked room_full too_many_attempts archived",
		},
		// Ends an invite.
		//
		// Takes its code or its id. An invite that is over already is answered as it is.
		//
		// Path: code (1.. runes): A code or an invite_id.
		//
		// Answer: The invite.
		{
			ID: "revokeInvite", Method: "POST", Path: "/v1/invites/{code}/revoke", Body: small[struct{}](), Secret: true,
			Answer: row[hub.Invite](), Errors: "invite_not_found too_many_attempts",
		},
		// The room of the nearest bound folder at or above a path.
		//
		// Paths are those of the hub's machine; a caller on another machine is refused. What does not exist counts as
		// the nearest folder that does. All work trees of a git repository share the bindings of folders in one of
		// them; at one level a binding of the folder itself comes before a shared one.
		//
		// Query:
		//   - path required (1.. runes): An absolute path of the hub's machine.
		//
		// Answer: The room, if a folder is bound.
		{
			ID: "resolve", Method: "GET", Path: "/v1/resolve", OwnUser: looksAtFolders,
			Answer: row[hub.Resolved](),
		},
		// Lists the rooms of a project, or of all, by slug and those of one slug by age.
		//
		// Query:
		//   - project (as Name): Only the rooms of this project, by id, slug or name.
		//   - archived (as Flag): Archived rooms too.
		//   - cursor
		//   - list_limit
		//
		// Answer: Rooms.
		{
			ID: "listRooms", Method: "GET", Path: "/v1/rooms",
			Answer: pages[hub.Room](), Errors: "project_not_found",
		},
		// Makes a room of a project, and the channel that it owns.
		//
		// Where the project has a room that looks like this one the answer is similar_room_exists with
		// detail.candidates (room_id, slug, name, topic, why), the closest first, at most 10. With force, which needs
		// force_reason, the room is made all the same; the reason is kept in its row if there was a look-alike.
		//
		// Answer: The room.
		{
			ID: "createRoom", Method: "POST", Path: "/v1/rooms", Agent: "created_by", Body: small[hub.RoomInput](),
			Answer: row[hub.Room](), Makes: MakesRow, Errors: "project_not_found similar_room_exists limit_reached archived paused",
		},
		// One room.
		//
		// Path: room_id (as Name): Its id; with project also its slug or, without regard to case, its name, which must
		// not hold a slash here.
		//
		// Query:
		//   - project (as Name): The project of the room, by id, slug or name.
		//
		// Answer: The room.
		{
			ID: "getRoom", Method: "GET", Path: "/v1/rooms/{room_id}",
			Answer: row[hub.Room](), Errors: "room_not_found project_not_found",
		},
		// Takes a room out of lists, or back into them.
		//
		// Nothing is deleted, and every reference goes on to lead to the room. A list of rooms has it only with
		// archived, and a poll that names no channel, thread or room leaves out what was posted there. Public posts to
		// its channel, and new tasks there, are refused with archived. So is the return of a room whose project is
		// archived.
		//
		// Answer: The room.
		{
			ID: "archiveRoom", Method: "PUT", Path: "/v1/rooms/{room_id}/archived", Plane: PlaneOperator, Body: small[hub.ArchiveInput](),
			Answer: row[hub.Room](), Errors: "room_not_found archived",
		},
		// What a room was like at a moment.
		//
		// The moment is right after a record (seq), or right after the last record of a time (ts); with neither it is
		// now. Messages are those of the room's channel. Without since_id and before_id they are the last ones up to
		// the moment. Lists are cut and the counts beside them are whole. Tasks that direct messages opened are shown
		// to those who could see them then. Claims and locks are those that an agent with a seat held, and claims on
		// tasks of the room. A moment before history_from_ts has kept false. Then seats, tasks, runs, claims, locks
		// and pauses are not known and empty, and messages, decisions, artifacts and memories are found by their
		// times.
		//
		// Query:
		//   - seq (as CursorText): The moment right after this record. It excludes ts.
		//   - ts: The moment right after the last record of this time, RFC 3339.
		//   - since_id
		//   - before_id (as CursorText): Only rows with a lower id, the last ones of them. It excludes since_id.
		//   - limit
		//   - viewer
		//
		// Answer: What the room was like.
		{
			ID: "getRoomMoment", Method: "GET", Path: "/v1/rooms/{room_id}/at", Agent: "agent_id",
			Answer: row[hub.RoomMoment](), Errors: "room_not_found",
		},
		// Takes a binding back.
		//
		// The path is that of the folder, or the text that it was bound with; the folder need not exist any more.
		//
		// Answer: The room.
		{
			ID: "unbindRoom", Method: "DELETE", Path: "/v1/rooms/{room_id}/binding", Agent: "agent_id", Body: small[hub.BindingInput](), OwnUser: looksAtFolders, NotRelayed: bindsOutside,
			Answer: row[hub.Room](), Errors: "room_not_found not_bound paused",
		},
		// Binds a folder of the hub's machine to the room.
		//
		// Symbolic links are followed. A folder that is bound to the room stays so, with 200; one that is bound to
		// another is already_bound, with that room in detail.room.
		//
		// Answer: The room.
		{
			ID: "bindRoom", Method: "PUT", Path: "/v1/rooms/{room_id}/binding", Agent: "agent_id", Body: small[hub.BindingInput](), OwnUser: looksAtFolders, NotRelayed: bindsOutside,
			Answer: row[hub.Room](), Makes: MakesOrFinds, Errors: "room_not_found path_not_found already_bound limit_reached archived paused",
		},
		// Does one step with the web page of a room.
		//
		// The room has one page, in a browser engine that the hub starts when it is wanted and ends when nobody uses
		// it. The agent that holds the claim browser:<room_id> drives it; a step gets or renews the claim, and close
		// releases it. Whatever the page does, a step ends within 30 seconds. The page reaches the public internet
		// over http and https, and the allowed_hosts of the room. A snapshot names the elements of the page by refs,
		// which hold until the page is another one. Text of the page is that of a stranger. A screenshot is kept as an
		// artifact of the room; downloads and other windows are refused, and notes says so.
		//
		// Answer: The page after the step.
		{
			ID: "browse", Method: "POST", Path: "/v1/rooms/{room_id}/browser", Agent: "agent_id", Body: small[hub.BrowseInput](), Wait: Wait{By: WaitFixed, Default: hub.BrowseStepMax}, OwnUser: drivesAsOwner,
			Answer: row[hub.BrowsePage](), Errors: "room_not_found browser_busy browser_missing browser_failed page_failed page_timeout address_refused stale_ref paused idempotency_conflict archived",
		},
		// Says whether and after how many posts in turn the agents of the room are refused that show no progress.
		//
		// Agents that post to each other directly, or two or three in its channel or a thread of it, are told at half
		// of that number. From two thirds on (not below 6) what comes fast or repeats what was said is slowed (429
		// slowed), and at the number every post is refused (409 loop_stopped); the operator is asked then. Without a
		// number none is refused: agents are told at 6, slowed from 8 on, and from 11 on what repeats rests for an
		// hour. A task, decision, artifact, memory, claim or lock of one of them begins a new count, and so does what
		// the operator or another agent says to them, or a pause of ten minutes.
		//
		// Answer: The room.
		{
			ID: "setRoomGuard", Method: "PUT", Path: "/v1/rooms/{room_id}/guard", Plane: PlaneOperator, Body: small[hub.GuardInput](),
			Answer: row[hub.Room](), Errors: "room_not_found",
		},
		// Allows the browser of a room a host that has no public address, or takes that back.
		//
		// The usual case is the server that a developer runs on this machine: localhost:3000. Without a port all ports
		// of the host are meant, but never the hub itself. An allowed name may mean any address but link-local ones,
		// metadata services of clouds and multicast; these have to be written as an address.
		//
		// Answer: The room.
		{
			ID: "allowHost", Method: "PUT", Path: "/v1/rooms/{room_id}/hosts", Plane: PlaneOperator, Body: small[hub.AllowHostInput](),
			Answer: row[hub.Room](), Errors: "room_not_found limit_reached",
		},
		// Says what the room wants before an agent edits a file that another agent has locked.
		//
		// Only the operator and the agent that made the room may say it; the agent has to prove its session.
		//
		// Answer: The room.
		{
			ID: "setRoomLocks", Method: "PUT", Path: "/v1/rooms/{room_id}/locks", Agent: "agent_id", Body: small[hub.LockPolicyInput](),
			Answer: row[hub.Room](), Errors: "room_not_found operator_required paused archived",
		},
		// Gives a room another name.
		//
		// The slug stays, so that every reference goes on to lead to it.
		//
		// Answer: The room.
		{
			ID: "renameRoom", Method: "PUT", Path: "/v1/rooms/{room_id}/name", Plane: PlaneOperator, Body: small[hub.RenamedInput](),
			Answer: row[hub.Room](), Errors: "room_not_found similar_room_exists",
		},
		// Says that an agent works in a room, and answers its seat.
		//
		// For an agent that begins a session in a folder that is bound to the room. One with a seat keeps it; else it gets one
		// without a role, as do agents that post, claim or watch in the room without having joined it. Such a seat is
		// shown and gives no right. It is taken back when its agent has been gone for ten minutes, or in a full room
		// for one that joins.
		//
		// Answer: The seat.
		{
			ID: "sit", Method: "POST", Path: "/v1/rooms/{room_id}/seats", Agent: "agent_id", Body: small[hub.SitInput](),
			Answer: row[hub.Seat](), Errors: "room_not_found room_full archived",
		},
		// What goes on in a room, on one page.
		//
		// Lists are cut, and then more names them; the counts beside them are whole. Decisions are the latest ten. Of
		// seats and decisions that have more than about 512 KiB the longest rows are left out. Tasks that direct
		// messages opened are shown and counted for those who may see them. Claims and locks are those that an agent
		// with a seat holds, and claims on tasks of the room. Seats of agents that have been gone for more than ten
		// minutes are left out and counted.
		//
		// Query:
		//   - all (as Flag): Shows also the seats of agents that have been gone for more than ten minutes.
		//   - viewer
		//
		// Answer: The room.
		{
			ID: "getRoomStatus", Method: "GET", Path: "/v1/rooms/{room_id}/status", Agent: "agent_id",
			Answer: row[hub.RoomStatus](), Errors: "room_not_found",
		},
	}
}
