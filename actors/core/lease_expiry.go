package core

import (
	"fmt"

	"hubcli/hub"
)

// Due reports whether the deadline of any held lease has passed.
func (l *Leases) Due(now Now) bool {
	at, ok := l.NextDeadline()
	return ok && at <= now.HubMS
}

// NextDeadline returns the hub time at which the next lease expires.
func (l *Leases) NextDeadline() (hubMS int64, ok bool) {
	first, ok := l.deadline.first()
	if !ok {
		return 0, false
	}
	return first.Deadline, true
}

// Expire returns the facts and notices for at most limit leases whose deadline
// has passed: first the leases of keys, then those with the earliest deadlines.
// The key of the command that shares the record must be among keys. Otherwise
// the command could find a lease that is overdue and not yet expired.
func (l *Leases) Expire(now Now, w LeaseWorld, limit int, keys ...LeaseKey) Draft {
	var d Draft
	if !l.Due(now) {
		return d
	}
	taken := map[LeaseKey]bool{}
	take := func(lease *Lease) {
		k := lease.LeaseKey()
		if taken[k] || len(d.Facts) >= limit {
			return
		}
		taken[k] = true
		d.Facts = append(d.Facts, &LeaseExpired{Space: k.Space, Key: k.Key})
		if w.Away(lease.Agent) {
			d.Messages = append(d.Messages, expiryNotice(lease, w))
		}
	}
	for _, k := range keys {
		if lease, ok := l.held[k]; ok && lease.Deadline <= now.HubMS {
			take(lease)
		}
	}
	for _, lease := range l.deadline.due(limit, func(e *Lease) bool { return e.Deadline <= now.HubMS }) {
		take(lease)
	}
	return d
}

// AfterExpiry appends a decision to the draft of Expire, for one record. The
// positions in both stay correct: an expiry takes no fence, and neither refers to
// a message.
func AfterExpiry(expired Draft, d Decision[LeaseAnswer]) Decision[LeaseAnswer] {
	if expired.Empty() {
		return d
	}
	expired.Facts = append(expired.Facts, d.Facts...)
	expired.Messages = append(expired.Messages, d.Messages...)
	expired.Fences = d.Fences
	return Decision[LeaseAnswer]{Draft: expired, Answer: d.Answer}
}

// Graced returns the facts that extend leases at a start: each lease that has
// less than hub.LeaseRestartGrace left gets that time. A holder that was cut
// off can then renew it. Each start gives it, however many there were: a holder
// could renew nothing while a hub started again and again, and nobody else could
// use what it holds. Graced returns at most limit facts; the caller applies them
// and repeats the call until it returns none.
func (l *Leases) Graced(now Now, limit int) Draft {
	deadline := now.HubMS + hub.LeaseRestartGrace.Milliseconds()
	var d Draft
	for _, lease := range l.deadline.due(limit, func(e *Lease) bool { return e.Deadline < deadline }) {
		d.Facts = append(d.Facts, &LeaseGraced{Space: lease.Space, Key: lease.Key, Deadline: deadline})
	}
	return d
}

// recovery is the metadata of the notice about an expired lease whose holder is
// away.
type recovery struct {
	AgentID       hub.AgentID    `json:"agent_id"`
	ClaimKey      string         `json:"claim_key,omitempty"`
	FilePath      string         `json:"file_path,omitempty"`
	TaskMessageID *hub.MessageID `json:"task_message_id"`
}

func expiryNotice(lease *Lease, w LeaseWorld) MessageDraft {
	r := recovery{AgentID: lease.Agent, TaskMessageID: Optional(lease.Task)}
	name := lease.Key
	if lease.Space == SpaceLock {
		name = lease.Given
		r.FilePath = name
	} else {
		r.ClaimKey = name
	}
	n := systemNotice(fmt.Sprintf("The %s %q of %s has expired while its holder was away. Any agent may take it now.",
		lease.Space, name, lease.Agent), map[string]any{"recovery": r})
	n.Channel, n.Thread = hub.DefaultChannel, lease.Thread
	if giver := w.Hidden(lease.ForTask()); giver != "" { // the notice tells no more agents than the task
		n.To, n.Channel = giver, hub.DirectChannel
		return n
	}
	if lease.Thread != "" {
		if ch := w.ThreadChannel(lease.Thread); ch != "" {
			n.Channel = ch
		}
	}
	return n
}

// systemNotice returns a notice from the hub itself. The caller sets its
// channel and thread. metadata must encode as JSON.
func systemNotice(body string, metadata map[string]any) MessageDraft {
	return MessageDraft{
		From: hub.AgentSystem, Kind: hub.KindNotice, Body: body, Metadata: mustJSON(metadata),
		Authority: hub.AuthoritySystem, Assurance: hub.AssuranceSession,
	}
}
