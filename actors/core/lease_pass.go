package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"hubcli/hub"
)

// ForTask returns the task for which a lease was taken, or 0: the task of a
// claim, the task that the key of a claim names, or task_id in the metadata.
func (l *Lease) ForTask() hub.TaskID {
	if l.Task != 0 {
		return l.Task
	}
	if id := TaskOfKey(hub.ClaimKey(l.Key)); id != 0 && l.Space == SpaceClaim {
		return id
	}
	var of struct {
		TaskID hub.TaskID `json:"task_id"`
	}
	if json.Unmarshal(l.Metadata, &of) != nil {
		return 0
	}
	return of.TaskID
}

// TaskKey is the key of a claim on a task that names none.
func TaskKey(id hub.TaskID) hub.ClaimKey {
	return hub.ClaimKey("task-" + strconv.FormatInt(int64(id), 10))
}

// TaskOfKey returns the task whose key this is, or 0.
func TaskOfKey(key hub.ClaimKey) hub.TaskID {
	digits, ok := strings.CutPrefix(string(key), "task-")
	id, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || TaskKey(hub.TaskID(id)) != key {
		return 0
	}
	return hub.TaskID(id)
}

// takenAt is the fence with which an agent took the lease.
func (l *Lease) takenAt() hub.Fence { return cmp.Or(l.Taken, l.Fence) }

// PassCommand has leases follow a task: to its assignee, or to its end.
type PassCommand struct {
	Task StoredTask
	Keys []LeaseKey // of one owner
}

// Pass hands those of the leases to the assignee that the task takes over, each
// with a new fence and at least the usual time. It tells both agents. It
// releases those that the task frees. The answer is how many leases change.
func (l *Leases) Pass(c PassCommand, now Now) Decision[int] {
	var d Draft
	passed := map[hub.AgentID][]*Lease{}
	var former []hub.AgentID
	for _, k := range c.Keys {
		lease := l.live(k, now)
		if lease != nil && c.Task.Frees(lease) {
			d.Facts = append(d.Facts, &LeaseReleased{Space: k.Space, Key: k.Key, Agent: lease.Agent})
		}
		if lease == nil || !c.Task.Takes(lease) {
			continue
		}
		d.Facts = append(d.Facts, &LeaseGranted{
			Space: lease.Space, Key: lease.Key, Given: lease.Given, Agent: *c.Task.Task.Assignee, Thread: lease.Thread,
			Task: lease.Task, Metadata: lease.Metadata, Deadline: max(lease.Deadline, deadlineAfter(now, hub.DefaultTTLSec)),
			Fence: d.Fences, From: lease.Agent, Taken: lease.takenAt(),
		})
		d.Fences++
		if passed[lease.Agent] == nil {
			former = append(former, lease.Agent)
		}
		passed[lease.Agent] = append(passed[lease.Agent], lease)
	}
	for _, from := range former {
		d.Messages = append(d.Messages, passNotices(&c.Task, from, passed[from])...)
	}
	n := len(d.Facts)
	return Decision[int]{Draft: d, Answer: func(Position) int { return n }}
}

// passNotices tells the former and the new holder of leases. The new one need not be told that the claim
// of its own task came with it.
func passNotices(t *StoredTask, from hub.AgentID, leases []*Lease) []MessageDraft {
	to, names := *t.Task.Assignee, make([]string, 0, maxNoticeTitles)
	for _, l := range leases {
		if len(names) == maxNoticeTitles {
			names = append(names, fmt.Sprintf("%d more", len(leases)-maxNoticeTitles))
			break
		}
		names = append(names, fmt.Sprintf("the %s %q", l.Space, cmp.Or(l.Given, l.Key)))
	}
	list := strings.Join(names, ", ")
	tell := func(agent hub.AgentID, text string) MessageDraft {
		n := systemNotice(text, map[string]any{"handoff": handoff{TaskID: t.Task.TaskID, From: from, To: to, State: handoffLeases}})
		n.Channel, n.Thread, n.Room = t.Task.Channel, hub.Value(t.Task.ThreadID), hub.Value(t.Task.RoomID)
		n.To, n.ReplyTo = agent, t.Task.TaskID
		return n
	}
	notices := []MessageDraft{
		tell(from, fmt.Sprintf("With %s these passed from you to %s: %s. Stop the work that they protect.", taskPhrase(&t.Task), to, list)),
	}
	if len(leases) == 1 && leases[0].Space == SpaceClaim && leases[0].Key == string(TaskKey(t.Task.TaskID)) {
		return notices
	}
	return append(notices, tell(to, fmt.Sprintf("With %s these passed from %s to you: %s.", taskPhrase(&t.Task), from, list)))
}
