package mcp

import (
	"context"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"hubcli/hub"
)

// recordTools store and read the decisions and artifacts of a room.
func recordTools() []tool {
	return []tool{
		define(tool{
			name: "hub_record_decision", title: "Record a decision",
			description: "Record what the team agreed on, so that no agent decides it again.",
		}, recordDecision),
		define(tool{
			name: "hub_list_decisions", title: "List decisions", reads: true, idempotent: true,
			description: "Read what was decided in the room, latest first.",
		}, listDecisions),
		define(tool{
			name: "hub_add_artifact", title: "Store an artifact",
			description: "Store a plan, report or file for the room. The same title makes a new version.",
		}, addArtifact),
		define(tool{
			name: "hub_get_artifact", title: "Read artifacts", reads: true, idempotent: true,
			description: "Read an artifact by id or title. Without both: list those of the room.",
		}, getArtifact),
	}
}

// shownDecision is a decision, its note perhaps cut.
type shownDecision struct {
	DecisionID hub.DecisionID `json:"decision_id"`
	RoomID     hub.RoomID     `json:"room_id" lean:"-"`
	Title      string         `json:"title"`
	Note       peerText       `json:"note,omitempty"`
	By         hub.AgentID    `json:"by,omitempty"`
	User       string         `json:"local_user,omitempty"` // the other user of the machine whose program recorded it
	CreatedAt  hub.Time       `json:"created_at" lean:"-"`
	Truncated  *cutMark       `json:"truncated,omitempty"`
}

func showDecision(d *hub.Decision, from, room int) shownDecision {
	part, end, whole := clip(d.Note, from, room)
	s := shownDecision{DecisionID: d.DecisionID, RoomID: d.RoomID, Title: d.Title, Note: peerText(part), By: d.By, User: d.User, CreatedAt: d.CreatedAt}
	if !whole {
		s.Truncated = &cutMark{
			Chars: chars(d.Note), Shown: end,
			Calls: []string{fmt.Sprintf(`hub_list_decisions {"decision_id":%q,"room_id":%q,"offset":%d}`, d.DecisionID, d.RoomID, end)},
		}
	}
	return s
}

type recordDecisionIn struct {
	Title          string `json:"title" jsonschema:"what is decided" range:"DecisionInput.title"`
	Note           string `json:"note,omitempty" jsonschema:"why, and which alternatives were rejected" range:"DecisionInput.note"`
	RoomID         string `json:"room_id,omitempty" jsonschema:"default: yours"`
	Metadata       string `json:"metadata,omitempty" jsonschema:"JSON object" most:"500000"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func recordDecision(ctx context.Context, c *call, in recordDecisionIn) (*answer, error) {
	metadata, err := object("metadata", in.Metadata)
	if err != nil {
		return nil, err
	}
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().AddDecision(c.key(ctx, in.IdempotencyKey), hub.DecisionInput{
		RoomID: room, Title: in.Title, Note: in.Note, By: c.agent(), Metadata: metadata,
	})
	if err != nil {
		return nil, err
	}
	return &answer{
		data: showDecision(&out.Row, 0, 1000), prose: true, untrusted: []string{"title", "note"},
		line: inRoom(fmt.Sprintf("recorded decision %s; the room has been told.", out.Row.DecisionID), room),
	}, nil
}

type listDecisionsIn struct {
	RoomID     string         `json:"room_id,omitempty" jsonschema:"default: yours"`
	DecisionID hub.DecisionID `json:"decision_id,omitempty" jsonschema:"this one alone"`
	Offset     int            `json:"offset,omitempty" jsonschema:"first character" range:"0,100000000"`
	Cursor     hub.Cursor     `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit      int            `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

func listDecisions(ctx context.Context, c *call, in listDecisionsIn) (*answer, error) {
	id, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	if in.DecisionID != "" {
		return c.decision(ctx, id, in)
	}
	list := func(limit int) ([]hub.Decision, hub.Cursor, error) {
		return c.hub().Decisions(ctx, hub.DecisionsQuery{RoomID: id, Cursor: in.Cursor, Limit: limit})
	}
	return pages(c, in.Limit, list, func(rows []hub.Decision, next hub.Cursor, room int) (*answer, int) {
		l := listing[shownDecision]{RoomID: id, Truncated: next != "", Cursor: next}
		all := make([]shownDecision, len(rows))
		for i := range rows {
			all[i] = showDecision(&rows[i], 0, min(room/4, 1000))
		}
		l.Items, _ = take(all, len(all), room-200)
		line := fmt.Sprintf("%d decisions, latest first.", len(l.Items))
		if next != "" {
			line += fmt.Sprintf(" More: hub_list_decisions with cursor %s.", next)
		} else {
			line += " Record another with hub_record_decision."
		}
		return &answer{data: l, line: inRoom(line, id), untrusted: []string{"items[].title", "items[].note"}}, len(l.Items)
	})
}

// decision shows one, its note from a character on.
func (c *call) decision(ctx context.Context, id hub.RoomID, in listDecisionsIn) (*answer, error) {
	for d, err := range hub.Walk(ctx, c.hub().Decisions, hub.DecisionsQuery{RoomID: id, Limit: hub.MaxPageRows}) {
		if err != nil {
			return nil, err
		}
		if d.DecisionID != in.DecisionID {
			continue
		}
		return c.fit(func(room int) *answer {
			l := listing[shownDecision]{RoomID: id, Items: []shownDecision{showDecision(&d, in.Offset, room-700)}}
			line := "the whole decision."
			if cut := l.Items[0].Truncated; cut != nil {
				l.Truncated, line = true, cut.String()
			}
			return &answer{data: l, line: inRoom(line, id), untrusted: []string{"items[].title", "items[].note"}}
		})
	}
	return nil, hub.Invalid("decision_id", "the room has no such decision").WithFix("hub_list_decisions lists those of a room")
}

type addArtifactIn struct {
	Title          string  `json:"title" jsonschema:"same title: next version" range:"ArtifactInput.title"`
	Kind           string  `json:"kind" jsonschema:"such as plan or report" range:"ArtifactInput.kind"`
	Body           *string `json:"body,omitempty" jsonschema:"text" most:"6000000"`
	ContentBase64  *string `json:"content_base64,omitempty" jsonschema:"or bytes" most:"6000000"`
	RoomID         string  `json:"room_id,omitempty" jsonschema:"default: yours"`
	IdempotencyKey string  `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func addArtifact(ctx context.Context, c *call, in addArtifactIn) (*answer, error) {
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().AddArtifact(c.key(ctx, in.IdempotencyKey), hub.ArtifactInput{
		RoomID: room, Title: in.Title, Kind: in.Kind, By: c.agent(), Body: in.Body, ContentBase64: in.ContentBase64,
	})
	if err != nil {
		return nil, err
	}
	return &answer{
		data: out.Row, prose: true, untrusted: []string{"title", "kind"},
		line: inRoom(fmt.Sprintf("stored %s as %s, version %d; the room has been told.", quoted(in.Title, 100), out.Row.ArtifactID, out.Row.Version), room),
	}, nil
}

type getArtifactIn struct {
	ArtifactID hub.ArtifactID `json:"artifact_id,omitempty" jsonschema:"id"`
	Title      string         `json:"title,omitempty" jsonschema:"or title: the latest version" range:"ArtifactInput.title"`
	Version    int64          `json:"version,omitempty" jsonschema:"of the title" range:"1,9007199254740991"`
	Offset     int            `json:"offset,omitempty" jsonschema:"first character" range:"0,100000000"`
	RoomID     string         `json:"room_id,omitempty" jsonschema:"default: yours"`
	Cursor     hub.Cursor     `json:"cursor,omitempty" jsonschema:"of the list"`
	Limit      int            `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

// shownArtifact is an artifact with its content from a character on.
type shownArtifact struct {
	hub.Artifact
	Encoding  string   `json:"encoding"` // text, or base64 if the content is not text
	Offset    int      `json:"offset"`
	Content   peerText `json:"content"`
	Truncated *cutMark `json:"truncated,omitempty"`
}

func getArtifact(ctx context.Context, c *call, in getArtifactIn) (*answer, error) {
	if in.ArtifactID == "" {
		id, err := c.room(ctx, in.RoomID)
		if err != nil {
			return nil, err
		}
		if in.Title == "" {
			return c.artifacts(ctx, id, in)
		}
		rows, _, err := c.hub().Artifacts(ctx, hub.ArtifactsQuery{
			RoomID: id, Title: in.Title, Version: in.Version, Latest: in.Version == 0, Limit: 1,
		})
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			return nil, hub.Errorf(hub.CodeArtifactNotFound, "the room has no such artifact").With("room_id", id)
		}
		in.ArtifactID = rows[0].ArtifactID
	}
	got, err := c.hub().ArtifactContent(ctx, in.ArtifactID)
	if err != nil {
		return nil, err
	}
	a := shownArtifact{Artifact: got.Artifact, Encoding: "text", Offset: in.Offset}
	whole := string(got.Data)
	if !utf8.Valid(got.Data) {
		a.Encoding, whole = "base64", base64.StdEncoding.EncodeToString(got.Data)
	}
	return c.fit(func(room int) *answer {
		part, end, all := clip(whole, in.Offset, room-600-size(got.Artifact))
		a.Content, a.Truncated = peerText(part), nil
		line := fmt.Sprintf("%s version %d from character %d to its end.", quoted(a.Title, 100), a.Version, in.Offset)
		if !all {
			a.Truncated = &cutMark{
				Chars: chars(whole), Shown: end,
				Calls: []string{fmt.Sprintf(`hub_get_artifact {"artifact_id":%q,"offset":%d}`, a.ArtifactID, end)},
			}
			line = fmt.Sprintf("%s version %d, %s", quoted(a.Title, 100), a.Version, a.Truncated)
		}
		by := who(a.By)
		if of := ofUser(a.User); of != "" {
			by += ", " + of
		}
		text := fmt.Sprintf("%s, artifact %s of kind %s by %s, version %d, %s, character %d to %d\n%s",
			quoted(a.Title, 100), a.ArtifactID, quoted(a.Kind, 40), by, a.Version, a.Encoding, in.Offset, end, fenced(part))
		return &answer{data: a, line: inRoom(line, a.RoomID), prose: true, text: text, untrusted: []string{"title", "kind", "content"}}
	})
}

// artifacts lists the latest versions of a room.
func (c *call) artifacts(ctx context.Context, id hub.RoomID, in getArtifactIn) (*answer, error) {
	list := func(limit int) ([]hub.Artifact, hub.Cursor, error) {
		return c.hub().Artifacts(ctx, hub.ArtifactsQuery{RoomID: id, Latest: true, Cursor: in.Cursor, Limit: limit})
	}
	return pages(c, in.Limit, list, func(rows []hub.Artifact, next hub.Cursor, room int) (*answer, int) {
		l := listing[hub.Artifact]{RoomID: id, Truncated: next != "", Cursor: next}
		l.Items, _ = take(rows, len(rows), room-200)
		line := fmt.Sprintf("%d artifacts, latest first. Read one with hub_get_artifact and artifact_id.", len(l.Items))
		if next != "" {
			line += fmt.Sprintf(" More: cursor %s.", next)
		}
		return &answer{data: l, line: inRoom(line, id), untrusted: []string{"items[].title", "items[].kind"}}, len(l.Items)
	})
}
