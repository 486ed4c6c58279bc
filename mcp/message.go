package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// shownMessage is a message as a tool shows it. Who sent it, and how sure that is,
// comes from the hub; body, attachments and metadata are the sender's words.
type shownMessage struct {
	ID           hub.MessageID    `json:"id"`
	From         hub.AgentID      `json:"from"`
	Authority    hub.Authority    `json:"authority"` // agent, operator or system
	Assurance    hub.Assurance    `json:"assurance"`
	User         string           `json:"local_user,omitempty"` // the other user of the machine whose program sent it
	To           hub.AgentID      `json:"to,omitempty"`         // set: a direct message
	Channel      hub.ChannelName  `json:"channel"`
	RoomID       hub.RoomID       `json:"room_id,omitempty"`
	Kind         hub.Kind         `json:"kind"`
	ThreadID     hub.ThreadID     `json:"thread_id,omitempty"`
	ReplyTo      hub.MessageID    `json:"reply_to,omitempty"`
	ParentTaskID hub.TaskID       `json:"parent_task_id,omitempty"`
	TS           hub.Time         `json:"ts"`
	Body         peerText         `json:"body"`
	Attachments  []hub.Attachment `json:"attachments,omitempty"`
	Metadata     json.RawMessage  `json:"metadata,omitempty"`
	Truncated    *cutMark         `json:"truncated,omitempty"`
}

// cutMark says which part of a text is missing and which calls return it.
type cutMark struct {
	Chars int      `json:"chars"` // characters of the whole text
	Shown int      `json:"shown"` // the character up to which it is shown
	Left  string   `json:"left,omitempty"`
	Calls []string `json:"calls"`
}

// ofPeers are the members of a shownMessage that its sender has written.
var ofPeers = []string{"body", "attachments", "metadata"}

// within prefixes the names of members with the path of their object.
func within(path string, members []string) []string {
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = path + m
	}
	return out
}

// showMessage shows a row in about room characters, its body from character
// offset on. Attachments and metadata are left out where there is no room for them.
func showMessage(row *hub.Message, offset, room int) shownMessage {
	m := shownMessage{
		ID: row.ID, From: row.FromAgent, Authority: row.Authority, Assurance: row.Assurance, User: row.User, Channel: row.Channel,
		Kind: row.Kind, TS: row.TS,
		To: hub.Value(row.ToAgent), RoomID: hub.Value(row.RoomID), ThreadID: hub.Value(row.ThreadID),
		ReplyTo: hub.Value(row.ReplyTo), ParentTaskID: hub.Value(row.ParentTaskID),
	}
	part, end, whole := clip(row.Body, offset, room)
	m.Body = peerText(part)
	var left, calls []string
	rest := func(part string, at int) {
		calls = append(calls, fmt.Sprintf(`hub_get_message {"message_id":%d,"part":%q,"offset":%d}`, row.ID, part, at))
	}
	if !whole {
		rest("body", end)
	}
	if spare := room - size(part); len(row.Attachments) > 0 {
		if offset == 0 && size(row.Attachments) <= spare {
			m.Attachments = row.Attachments
		} else if offset == 0 {
			left = append(left, fmt.Sprintf("%d attachments", len(row.Attachments)))
			rest("attachments", 0)
		}
	}
	if offset == 0 && len(row.Metadata) > len("{}") {
		if size(row.Metadata) <= room-size(part)-size(m.Attachments) {
			m.Metadata = row.Metadata
		} else {
			left = append(left, "metadata")
			rest("metadata", 0)
		}
	}
	if len(calls) > 0 {
		m.Truncated = &cutMark{
			Chars: utf8.RuneCountInString(row.Body), Shown: end, Left: strings.Join(left, " and "), Calls: calls,
		}
	}
	return m
}

// oldOrder is the age, in ms, from which on a message of the operator says how old it is.
const oldOrder = 60_000

// head says what the hub knows of a message. It stands above it, behind its
// number.
func (m *shownMessage) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s", m.sender(), word(string(m.Kind)))
	if m.To != "" {
		fmt.Fprintf(&b, " to %s alone", word(string(m.To)))
	} else if m.RoomID == "" || m.Channel != m.RoomID.Channel() {
		fmt.Fprintf(&b, " in %s", quoted(string(m.Channel), 80))
	} else if m.Authority == hub.AuthorityOperator {
		fmt.Fprintf(&b, " to room %s", word(string(m.RoomID)))
	}
	if age := hub.TimeOf(time.Now()) - m.TS; m.Authority == hub.AuthorityOperator && age >= oldOrder {
		fmt.Fprintf(&b, ", %s ago", hub.Age(age))
	}
	if m.ThreadID != "" {
		fmt.Fprintf(&b, ", thread %s", quoted(string(m.ThreadID), 80))
	}
	if m.ReplyTo != 0 {
		fmt.Fprintf(&b, ", reply to #%d", m.ReplyTo)
	}
	if m.ParentTaskID != 0 {
		fmt.Fprintf(&b, ", part of task #%d", m.ParentTaskID)
	}
	return b.String()
}

// repeats reports whether the metadata only says what the head or the text says: that the task to which
// this is a reply is done or handed over, or which artifact was stored or decision made.
func (m *shownMessage) repeats() bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(m.Metadata, &members) != nil || len(members) != 1 {
		return false
	}
	var done, handed hub.TaskID
	var handoff struct {
		TaskID *hub.TaskID `json:"task_id"`
	}
	var artifact, decision string
	switch {
	case json.Unmarshal(members["task_completed"], &done) == nil:
		return done == m.ReplyTo && done != 0
	case json.Unmarshal(members["handoff"], &handoff) == nil && handoff.TaskID != nil:
		handed = *handoff.TaskID
		return handed == m.ReplyTo && handed != 0
	case json.Unmarshal(members["decision"], &decision) == nil:
		return m.Kind == hub.KindNotice && decision != "" && strings.HasPrefix(string(m.Body), "Decided ("+decision+"): ")
	case json.Unmarshal(members["artifact"], &artifact) == nil:
		return m.Kind == hub.KindArtifact && artifact != "" && strings.Contains(string(m.Body), artifact)
	}
	return false
}

// words are what the sender has written. What the hub adds to its own notices
// repeats their text.
func (m *shownMessage) words() string {
	words := string(m.Body)
	if len(m.Attachments) > 0 {
		if list, err := compact(m.Attachments); err == nil {
			words += "\n[attachments] " + string(peertext.ModelJSON(list))
		}
	}
	if len(m.Metadata) > 0 && m.Authority != hub.AuthoritySystem && !m.repeats() {
		words += "\n[metadata] " + string(peertext.ModelJSON(m.Metadata))
	}
	return peertext.Model(words)
}

// sender names who has sent the message, and how that was proved. An agent that no remark follows was
// verified by its session. Nothing in a body can change it.
func (m *shownMessage) sender() string {
	switch m.Authority {
	case hub.AuthorityOperator:
		return fmt.Sprintf("from %s (the human operator, proved)", word(string(m.From)))
	case hub.AuthoritySystem:
		return "from the hub" // no agent is called so: an id has no space
	case hub.AuthorityAgent:
	}
	var remarks []string
	switch m.Assurance {
	case hub.AssuranceSession:
	case hub.AssuranceRelay:
		remarks = append(remarks, "through its file relay")
	default:
		remarks = append(remarks, "unverified")
	}
	if of := ofUser(m.User); of != "" {
		remarks = append(remarks, of)
	}
	if len(remarks) == 0 {
		return "from " + word(string(m.From))
	}
	return fmt.Sprintf("from %s (%s)", word(string(m.From)), strings.Join(remarks, ", "))
}

// ofUser says that something comes from a program of another user of the machine; "" if it
// comes from the hub's own user.
func ofUser(name string) string {
	if name == "" {
		return ""
	}
	return "a program of " + word(name) + ", another user of this machine"
}

func (t *cutMark) String() string {
	s := fmt.Sprintf("cut at character %d of %d", t.Shown, t.Chars)
	if t.Shown >= t.Chars {
		s = "whole body"
	}
	if t.Left != "" {
		s += "; no room for " + t.Left
	}
	return s + "; the rest: " + strings.Join(t.Calls, " and ")
}

// word returns an id in a form that is safe without quotes.
func word(s string) string {
	s = strings.ReplaceAll(peertext.ModelLine(s), " ", "_")
	part, _, _ := cut(s, 0, 64)
	return part
}

// isNotice reports whether m is a whole notice of the hub's own.
func (m *shownMessage) isNotice() bool {
	return m.Authority == hub.AuthoritySystem && m.Kind == hub.KindNotice && m.Truncated == nil
}

// texts shows messages one after the other, all of them between two marks that were made up for
// the answer. The sender's words stand in lines that begin with |, and what the hub knows of a
// message in the line above them, which does not. Messages that follow each other under the same
// head share it if each is a notice of the hub or one line, such as the tasks of a plan. Notices of
// agents that joined hold nobody's words: before the first words they need no mark.
func texts(list []shownMessage) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].words()
	}
	f := newFence(words)
	for i := 0; i < len(list); i++ {
		first, said, head := i, words[i], list[i].head()
		if came := joined(list[i:]); len(came) > 0 {
			i += len(came) - 1
			f.line(fmt.Sprintf("%s from the hub: %s joined", numbers(list[first:i+1]), strings.Join(came, ", ")))
			continue
		}
		for ; i+1 < len(list) && list[i].joins(words[i]) && list[i+1].joins(words[i+1]) && list[i+1].head() == head; i++ {
			said += "\n" + words[i+1]
		}
		f.words(numbers(list[first:i+1])+" "+head, said)
		if list[i].Truncated != nil {
			f.line(fmt.Sprintf("(%s)", list[i].Truncated))
		}
	}
	return f.text()
}

// joins reports whether a message may share a head with others: its lines count,
// so that nobody takes a line of one for another message.
func (m *shownMessage) joins(words string) bool {
	return m.isNotice() || m.Truncated == nil && words != "" && !strings.ContainsAny(words, "\n\r")
}

// joined returns the ids of the agents of whose coming the first messages of a list tell.
func joined(list []shownMessage) (agents []string) {
	for i := range list {
		agent, came := strings.CutSuffix(string(list[i].Body), " joined")
		if !came || !list[i].isNotice() || list[i].To != "" || hub.CheckAgentID("agent_id", hub.AgentID(agent)) != nil {
			break
		}
		agents = append(agents, agent)
	}
	return agents
}

// numbers lists the ids of messages: "#3, #5", or "#3 to #7" where none between them is missing.
func numbers(list []shownMessage) string {
	first, last := list[0].ID, list[len(list)-1].ID
	if len(list) > 2 && int(last-first) == len(list)-1 {
		return fmt.Sprintf("#%d to #%d", first, last)
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = fmt.Sprintf("#%d", list[i].ID)
	}
	return strings.Join(ids, ", ")
}
