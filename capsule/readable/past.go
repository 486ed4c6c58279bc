package readable

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"hubcli/capsule"
	"hubcli/hub"
)

// How much of a room a replay is made of: the latest of each kind, with the beginning of
// each text. The files beside it have all of it.
const (
	pastMessages = 20_000
	pastBytes    = 8 << 20 // of messages
	pastThings   = 1_000   // of each other kind
	pastText     = 400     // bytes of a title or a note
)

// What a moment shows at most, as for hub.RoomMoment.
const (
	shownTasks  = 200
	shownThings = 50
)

// A past is what a room was like, as far as the times of its lines tell. It is a source of
// package replayfile.
type past struct {
	room      *room
	to        hub.Time // when the capsule was made
	skip      int64    // of so many messages none is kept
	messages  []hub.EncodedMessage
	said      []hub.Time // the times of the messages, rising
	cut       bool       // there were earlier messages
	size      int        // bytes of messages
	decisions []hub.Decision
	artifacts []hub.Artifact
	memories  []hub.Memory
	tasks     []hub.Task
	runs      []hub.Run
}

// latest appends a row, and forgets the first half of the most rows that count when there are
// twice as many.
func latest[T any](rows []T, row T, most int) []T {
	if rows = append(rows, row); len(rows) >= 2*most {
		rows = append(rows[:0], rows[len(rows)-most:]...)
	}
	return rows
}

// addMessage adds a message that went to the whole room.
func (p *past) addMessage(m *capsule.Message) error {
	if m.To != "" || p.skip > 0 {
		p.cut = p.cut || m.To == ""
		p.skip--
		return nil
	}
	row := hub.Message{
		ID: hub.MessageID(m.ID), TS: m.TS, FromAgent: m.From, Channel: m.Channel, Kind: m.Kind, Body: m.Body, Attachments: m.Attachments,
		Metadata: m.Metadata, Authority: m.Authority, Assurance: m.Assurance,
	}
	if m.ReplyTo > 0 {
		to := hub.MessageID(m.ReplyTo)
		row.ReplyTo = &to
	}
	if m.Thread != "" {
		row.ThreadID = &m.Thread
	}
	if len(row.Metadata) == 0 {
		row.Metadata = json.RawMessage("{}")
	}
	encoded, err := json.Marshal(&row)
	if err != nil {
		return err
	}
	p.messages, p.said, p.size = append(p.messages, encoded), append(p.said, m.TS), p.size+len(encoded)
	if len(p.messages) >= 2*pastMessages || p.size >= 2*pastBytes {
		p.cutMessages()
	}
	return nil
}

// cutMessages leaves the latest messages that the bounds allow.
func (p *past) cutMessages() {
	first, size := len(p.messages), 0
	for first > 0 && len(p.messages)-first < pastMessages && size+len(p.messages[first-1]) <= pastBytes {
		first--
		size += len(p.messages[first])
	}
	p.cut = p.cut || first > 0
	p.messages, p.said, p.size = slices.Delete(p.messages, 0, first), slices.Delete(p.said, 0, first), size
}

func (p *past) addDecision(d *capsule.Decision) {
	p.decisions = latest(p.decisions, hub.Decision{
		DecisionID: hub.DecisionID(d.ID), Title: beginning(d.Title), Note: beginning(d.Note), By: d.By, Metadata: json.RawMessage("{}"), CreatedAt: d.CreatedAt,
	}, pastThings)
}

func (p *past) addArtifact(a *capsule.Artifact) {
	p.artifacts = latest(p.artifacts, hub.Artifact{
		ArtifactID: hub.ArtifactID(a.ID), Title: beginning(a.Title), Kind: a.Kind, By: a.By, Version: a.Version, Size: a.Bytes, CreatedAt: a.CreatedAt,
	}, pastThings)
}

func (p *past) addMemory(m *capsule.Memory) {
	p.memories = latest(p.memories, hub.Memory{
		MemoryID: hub.MemoryID(m.ID), Scope: m.Scope, Key: m.Key, Text: beginning(m.Text), Tags: []string{}, By: m.By, CreatedAt: m.CreatedAt, ReplacedAt: m.ReplacedAt,
	}, pastThings)
}

func (p *past) addTask(t *capsule.Task) {
	if t.Direct {
		return
	}
	row := hub.Task{TaskID: hub.MessageID(t.ID), Title: beginning(t.Title), Status: t.Status, Ready: true, CreatedBy: t.CreatedBy, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, CompletedAt: t.CompletedAt}
	if t.Assignee != "" {
		row.Assignee = &t.Assignee
	}
	p.tasks = latest(p.tasks, row, pastThings)
}

func (p *past) addRun(u *capsule.Run) {
	p.runs = latest(p.runs, hub.Run{RunID: hub.RunID(u.ID), Title: beginning(u.Title), CreatedBy: u.CreatedBy, Status: u.Status, StartedAt: u.StartedAt, EndedAt: u.EndedAt}, pastThings)
}

// beginning is a text, or its first part.
func beginning(text string) string {
	if len(text) <= pastText {
		return text
	}
	end := pastText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// sort puts the things in the order of their times: an import may have given them others.
func (p *past) sort() {
	p.cutMessages()
	slices.SortStableFunc(p.decisions, func(a, b hub.Decision) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	slices.SortStableFunc(p.artifacts, func(a, b hub.Artifact) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	slices.SortStableFunc(p.memories, func(a, b hub.Memory) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
}

// times are the times at which something happened, rising.
func (p *past) times() []hub.Time {
	all := slices.Clone(p.said)
	for i := range p.decisions {
		all = append(all, p.decisions[i].CreatedAt)
	}
	for i := range p.artifacts {
		all = append(all, p.artifacts[i].CreatedAt)
	}
	ended := func(begun hub.Time, end *hub.Time) {
		if all = append(all, begun); end != nil {
			all = append(all, *end)
		}
	}
	for i := range p.memories {
		ended(p.memories[i].CreatedAt, p.memories[i].ReplacedAt)
	}
	for i := range p.tasks {
		ended(p.tasks[i].CreatedAt, p.tasks[i].CompletedAt)
	}
	for i := range p.runs {
		ended(p.runs[i].StartedAt, p.runs[i].EndedAt)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Moment says what stood beside the messages at a time, or at the end.
func (p *past) Moment(_ context.Context, q hub.MomentQuery) (hub.RoomMoment, error) {
	at := q.At
	if at == 0 {
		at = p.to
	}
	out := hub.RoomMoment{TS: at, FirstTS: p.room.CreatedAt, LastTS: p.to, HistoryFromTS: p.to}
	if len(p.said) > 0 {
		out.FirstTS = min(out.FirstTS, p.said[0])
	}
	for i := len(p.decisions) - 1; i >= 0 && len(out.Decisions) < shownThings; i-- {
		if p.decisions[i].CreatedAt <= at {
			out.Decisions = append(out.Decisions, p.decisions[i])
		}
	}
	titles := map[string]bool{}
	for i := len(p.artifacts) - 1; i >= 0 && len(out.Artifacts) < shownThings; i-- {
		if a := p.artifacts[i]; a.CreatedAt <= at && !titles[a.Title] {
			titles[a.Title] = true
			out.Artifacts = append(out.Artifacts, a)
		}
	}
	for i := len(p.memories) - 1; i >= 0; i-- {
		m := p.memories[i]
		if m.CreatedAt > at || m.ReplacedAt != nil && *m.ReplacedAt <= at || m.Text == "" {
			continue
		}
		if m.ReplacedAt = nil; len(out.Memories) < shownThings {
			out.Memories = append(out.Memories, m)
		}
		out.MemoryCount++
	}
	p.tasksAt(&out, at)
	p.runsAt(&out, at)
	return out, nil
}

// tasksAt adds the tasks that had begun, newest first. The capsule does not say what state a
// task had before its last change, nor which agent had it.
func (p *past) tasksAt(out *hub.RoomMoment, at hub.Time) {
	for i := len(p.tasks) - 1; i >= 0; i-- {
		t := p.tasks[i]
		switch {
		case t.CreatedAt > at:
		case t.CompletedAt != nil && *t.CompletedAt <= at:
			if len(out.EndedTasks) < shownThings {
				out.EndedTasks = append(out.EndedTasks, t)
			}
		default:
			if t.CompletedAt = nil; t.UpdatedAt > at {
				t.Status, t.Assignee = "", nil
			}
			if out.TaskCount++; len(out.Tasks) < shownTasks {
				out.Tasks = append(out.Tasks, t)
			}
		}
	}
}

// runsAt adds the runs that had begun: those that went on, then those that had ended.
func (p *past) runsAt(out *hub.RoomMoment, at hub.Time) {
	var ended []hub.Run
	for i := len(p.runs) - 1; i >= 0; i-- {
		u := p.runs[i]
		switch {
		case u.StartedAt > at:
		case u.EndedAt != nil && *u.EndedAt <= at:
			ended = append(ended, u)
		default:
			u.Status, u.EndedAt = hub.RunRunning, nil
			out.Runs = append(out.Runs, u)
		}
	}
	out.Runs = append(out.Runs, ended...)
	out.Runs = out.Runs[:min(len(out.Runs), shownThings)]
}
