package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// memoryTools store, recall and search what a team knows.
func memoryTools() []tool {
	return []tool{
		define(tool{
			name: "hub_remember", title: "Remember",
			description: "Store a fact for the team that outlasts this session. The same key replaces the text.",
		}, remember),
		define(tool{
			name: "hub_forget", title: "Forget",
			description: "Delete what is remembered under a key.",
		}, forget),
		define(tool{
			name: "hub_recall", title: "Recall", reads: true, idempotent: true,
			description: "Look up what the team remembers, before you ask other agents.",
		}, recall),
		define(tool{
			name: "hub_search", title: "Search", reads: true, idempotent: true,
			description: "Find messages, decisions, artifacts and memories by their words.",
		}, search),
	}
}

// shownMemory is a memory, its text perhaps cut.
type shownMemory struct {
	MemoryID  hub.MemoryID    `json:"memory_id"`
	Scope     hub.MemoryScope `json:"scope" lean:"-"`
	Key       string          `json:"key,omitempty"`
	Text      peerText        `json:"text" lean:"empty"`
	Tags      []string        `json:"tags,omitempty"`
	By        hub.AgentID     `json:"by,omitempty"`
	User      string          `json:"local_user,omitempty"` // the other user of the machine whose program said it
	CreatedAt hub.Time        `json:"created_at" lean:"-"`
	Truncated *cutMark        `json:"truncated,omitempty"`
}

// showMemory shows a text from a character on; id is the room that is asked.
func showMemory(m *hub.Memory, id hub.RoomID, from, room int) shownMemory {
	s := shownMemory{MemoryID: m.MemoryID, Scope: m.Scope, Key: m.Key, Tags: m.Tags[:min(len(m.Tags), 10)], By: m.By, User: m.User, CreatedAt: m.CreatedAt}
	part, end, whole := clip(m.Text, from, room)
	s.Text = peerText(part)
	if !whole {
		s.Truncated = &cutMark{
			Chars: chars(m.Text), Shown: end,
			Calls: []string{fmt.Sprintf(`hub_recall {"memory_id":%q,"room_id":%q,"offset":%d}`, m.MemoryID, id, end)},
		}
	}
	return s
}

type rememberIn struct {
	Text           string   `json:"text" jsonschema:"the fact" range:"MemoryInput.text"`
	Key            string   `json:"key,omitempty" jsonschema:"such as build:command" range:"MemoryInput.key"`
	Tags           []string `json:"tags,omitempty" jsonschema:"to find it by"`
	Scope          string   `json:"scope,omitempty" jsonschema:"whose: default room" enum:"room,project"`
	RoomID         string   `json:"room_id,omitempty" jsonschema:"default: yours"`
	IdempotencyKey string   `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func remember(ctx context.Context, c *call, in rememberIn) (*answer, error) {
	if in.Text == "" {
		return nil, hub.Invalid("text", "the text is empty").WithFix("give the fact; to delete what a key holds call hub_forget")
	}
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().Remember(c.key(ctx, in.IdempotencyKey), hub.MemoryInput{
		RoomID: room, Text: in.Text, Key: in.Key, Tags: in.Tags, Scope: hub.MemoryScope(in.Scope), By: c.agent(),
	})
	if err != nil {
		return nil, err
	}
	m := out.Row
	line := fmt.Sprintf("remembered as %s for the %s.", m.MemoryID, m.Scope)
	return &answer{data: showMemory(&m, room, 0, 500), prose: true, line: inRoom(line, room), untrusted: []string{"key", "text", "tags"}}, nil
}

type forgetIn struct {
	Key            string `json:"key" jsonschema:"as remembered" range:"MemoryInput.key"`
	Scope          string `json:"scope,omitempty" jsonschema:"whose: default room" enum:"room,project"`
	RoomID         string `json:"room_id,omitempty" jsonschema:"default: yours"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func forget(ctx context.Context, c *call, in forgetIn) (*answer, error) {
	if in.Key == "" {
		return nil, hub.Invalid("key", "the key is empty").WithFix("name the key; hub_recall shows keys")
	}
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().Remember(c.key(ctx, in.IdempotencyKey), hub.MemoryInput{
		RoomID: room, Key: in.Key, Scope: hub.MemoryScope(in.Scope), By: c.agent(),
	})
	if err != nil {
		return nil, err
	}
	m := out.Row
	return &answer{
		data: showMemory(&m, room, 0, 500), prose: true, untrusted: []string{"key", "text", "tags"},
		line: inRoom(fmt.Sprintf("forgot %s of the %s.", quoted(in.Key, 100), m.Scope), room),
	}, nil
}

type recallIn struct {
	Query    string       `json:"query,omitempty" jsonschema:"words; without: latest first" range:"1000"`
	Key      string       `json:"key,omitempty" jsonschema:"of this key" range:"MemoryInput.key"`
	Tag      string       `json:"tag,omitempty" jsonschema:"with this tag" range:"200"`
	Scope    string       `json:"scope,omitempty" jsonschema:"default both" enum:"room,project"`
	MemoryID hub.MemoryID `json:"memory_id,omitempty" jsonschema:"this one alone"`
	Offset   int          `json:"offset,omitempty" jsonschema:"first character" range:"0,100000000"`
	RoomID   string       `json:"room_id,omitempty" jsonschema:"default: yours"`
	Cursor   hub.Cursor   `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit    int          `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

func recall(ctx context.Context, c *call, in recallIn) (*answer, error) {
	id, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	q := hub.MemoryQuery{
		RoomID: id, MemoryID: in.MemoryID, Scope: hub.MemoryScope(in.Scope), Key: in.Key, Tag: in.Tag, Query: in.Query,
	}
	list, err := c.recalling(ctx, q, in.Cursor)
	if err != nil {
		return nil, err
	}
	nothing := false
	a, err := pages(c, in.Limit, list, func(rows []hub.Memory, next hub.Cursor, room int) (*answer, int) {
		nothing = len(rows) == 0
		l := listing[shownMemory]{RoomID: id, Truncated: next != "", Cursor: next}
		share := min(room/4, 1500)
		if len(rows) == 1 {
			share = room - 700
		}
		all := make([]shownMemory, len(rows))
		for i := range rows {
			all[i] = showMemory(&rows[i], id, in.Offset, share)
		}
		l.Items, _ = take(all, len(all), room-200)
		line := fmt.Sprintf("%d remembered.", len(l.Items))
		switch {
		case next != "":
			line += fmt.Sprintf(" More: hub_recall with cursor %s.", next)
		case len(l.Items) == 0:
			line = "nothing is remembered of this. Try hub_search, or ask with hub_post_message."
		}
		return &answer{data: l, line: inRoom(line, id), untrusted: []string{"items[].key", "items[].text", "items[].tags"}}, len(l.Items)
	})
	if err == nil && nothing && in.Query != "" && in.Tag == "" && in.Cursor == "" {
		return c.searchInstead(ctx, in.Query, id, a)
	}
	return a, err
}

// searchInstead looks in the messages, decisions and artifacts of a room for what nobody
// has remembered. none is the answer if they do not have it either.
func (c *call) searchInstead(ctx context.Context, query string, room hub.RoomID, none *answer) (*answer, error) {
	a, hits, err := c.find(ctx, searchIn{Query: query, RoomID: string(room), Limit: 5})
	if err != nil || hits == 0 {
		return none, nil //nolint:nilerr // that nothing is remembered is true anyway
	}
	a.line = "Nothing is remembered of this. A search found: " + a.line
	return a, nil
}

// recalling reads memories from a cursor on. The hub returns no cursor for the
// best matches of a query, so the bridge counts rows there.
func (c *call) recalling(ctx context.Context, q hub.MemoryQuery, at hub.Cursor) (func(int) ([]hub.Memory, hub.Cursor, error), error) {
	if q.Query == "" {
		return func(limit int) ([]hub.Memory, hub.Cursor, error) {
			q.Cursor, q.Limit = at, limit
			return c.hub().Recall(ctx, q)
		}, nil
	}
	skip, err := offset(string(at))
	return func(limit int) ([]hub.Memory, hub.Cursor, error) {
		q.Limit = min(skip+limit+1, hub.MaxPageRows)
		rows, _, err := c.hub().Recall(ctx, q)
		rows = rows[min(skip, len(rows)):]
		if len(rows) <= limit {
			return rows, "", err
		}
		return rows[:limit], hub.Cursor(strconv.Itoa(skip + limit)), err
	}, err
}

type searchIn struct {
	Query     string          `json:"query" jsonschema:"words" range:"1000"`
	RoomID    string          `json:"room_id,omitempty" jsonschema:"default: all rooms"`
	Channel   hub.ChannelName `json:"channel,omitempty" jsonschema:"only there"`
	FromAgent hub.AgentID     `json:"from_agent,omitempty" jsonschema:"only by"`
	Type      string          `json:"type,omitempty" jsonschema:"only these" enum:"message,decision,artifact,memory"`
	Kind      string          `json:"kind,omitempty" jsonschema:"of message or artifact"`
	Cursor    string          `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit     int             `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

// hit is one row that a search has found.
type hit struct {
	Type     hub.FoundType   `json:"type"`
	ID       string          `json:"id"`
	From     hub.AgentID     `json:"from,omitempty"`
	RoomID   hub.RoomID      `json:"room_id,omitempty"`
	Channel  hub.ChannelName `json:"channel,omitempty"`
	ThreadID hub.ThreadID    `json:"thread_id,omitempty"`
	Kind     string          `json:"kind,omitempty"`
	Title    string          `json:"title,omitempty"`
	Snippet  peerText        `json:"snippet"`
	TS       hub.Time        `json:"ts"`
}

// found is part of what a search has found.
type found struct {
	listing[hit]
	Behind int64 `json:"behind,omitempty"` // rows that were not searched yet
}

func search(ctx context.Context, c *call, in searchIn) (*answer, error) {
	a, _, err := c.find(ctx, in)
	return a, err
}

// find searches, and counts the hits.
func (c *call) find(ctx context.Context, in searchIn) (a *answer, hits int, err error) {
	q := hub.SearchQuery{
		Text: in.Query, Viewer: c.agent(), Channel: in.Channel, FromAgent: in.FromAgent, Kind: in.Kind,
	}
	if in.RoomID != "" && in.RoomID != anyRoom {
		if q.RoomID, err = c.room(ctx, in.RoomID); err != nil {
			return nil, 0, err
		}
	}
	if in.Type != "" {
		q.Types = []hub.FoundType{hub.FoundType(in.Type)}
	}
	skip, err := offset(in.Cursor)
	if err != nil {
		return nil, 0, err
	}
	q.Limit = min(skip+orDefault(in.Limit, defaultRows)+1, hub.MaxPageRows)
	got, err := c.hub().Search(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	all := []hit{}
	for _, f := range got.Rows[min(skip, len(got.Rows)):] {
		all = append(all, hit{
			f.Type, f.ID, f.FromAgent, hub.Value(f.RoomID), f.Channel, hub.Value(f.ThreadID), f.Kind, brief(f.Title, 200), peerText(f.Snippet), f.TS,
		})
	}
	a, err = c.fit(func(room int) *answer {
		l := found{listing: listing[hit]{RoomID: q.RoomID}, Behind: got.Behind}
		l.Items, l.Truncated = take(all, in.Limit, room-300)
		line := fmt.Sprintf("%d hits, best first. Read one whole with hub_get_message, hub_get_artifact, hub_list_decisions or hub_recall.", len(l.Items))
		switch {
		case l.Truncated:
			l.Cursor = hub.Cursor(strconv.Itoa(skip + len(l.Items)))
			line = fmt.Sprintf("%d hits, best first. More: hub_search with cursor %s.", len(l.Items), l.Cursor)
		case len(l.Items) == 0:
			line = "No hits. Try fewer or other words."
		}
		return &answer{data: l, line: line, prose: true, text: hitTexts(l.Items), untrusted: []string{"items[].title", "items[].snippet", "items[].kind"}}
	})
	return a, len(all), err
}

func hitTexts(list []hit) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = peertext.Model(string(list[i].Snippet))
	}
	f := newFence(words)
	for i, h := range list {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s by %s", h.Type, h.ID, who(h.From))
		if h.RoomID != "" {
			fmt.Fprintf(&b, " in room %s", word(string(h.RoomID)))
		}
		if h.Title != "" {
			fmt.Fprintf(&b, ", %s", quoted(h.Title, 100))
		}
		f.words(b.String(), words[i])
	}
	return f.text()
}
