package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"

	"hubcli/actors/asks"
	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Post stores a message; see hub.Messages.
func (h *Hub) Post(ctx context.Context, in hub.PostInput) (hub.Posted, error) {
	m, err := h.draftPost(hub.CallerOf(ctx), &in)
	var out hub.Outcome[hub.EncodedMessage]
	// Before the commit: this message ends the wait of a recipient that it wakes.
	unreached := h.unreached(m.From, m.To)
	if err != nil {
		out.Created, out.Replayed = true, true
		out.Row, err = engine.Repeated(ctx, h.engine, m.From, h.messageCodec(), err)
	} else {
		out, err = h.post(ctx, m, &in)
	}
	if err != nil {
		return hub.Posted{}, err
	}
	h.view.NoteReply(ctx, m.From, m.ReplyTo)
	h.view.ReadWhole(ctx, m.From, m.ReplyTo)
	return hub.Posted{Outcome: out, Recipient: unreached, Muted: h.mutedNow(ctx, &m, out.Row)}, nil
}

// post lets the owner of a message decide.
func (h *Hub) post(ctx context.Context, m core.MessageDraft, in *hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
	size := len(in.Body) + len(in.Metadata)
	for i := range in.Attachments {
		size += len(in.Attachments[i].Content)
	}
	var row hub.EncodedMessage
	var replayed bool
	var err error
	talk := h.guard.Begin(&m)
	defer talk.Leave()
	switch {
	case m.Kind.OpensTask(), m.Kind == hub.KindTaskResult, m.Parent != 0:
		return h.postTask(ctx, core.PostTaskCommand{Message: m, BlockedBy: in.BlockedBy, Force: in.Force, By: h.standing(ctx, m.From)}, size)
	case asks.IsQuestion(&m):
		row, replayed, err = h.asks.Post(ctx, m, size, h.messageCodec())
	case m.To != "":
		row, replayed, err = engine.Submit(ctx, h.engine, muting(ctx, h, m.Room, unpaused(ctx, h, m.Room, engine.Command[*core.Agent, hub.MessageID, hub.EncodedMessage]{
			Owner: core.AgentOwner(m.To), Agent: in.FromAgent, Size: size, Codec: h.messageCodec(),
			Decide: func(a *core.Agent, now core.Now) (core.Decision[hub.MessageID], error) {
				if err := talk.Enter(now); err != nil {
					return core.Decision[hub.MessageID]{}, err
				}
				return a.Deliver(m), nil
			},
			Answer: postedRow,
		})))
	default:
		row, replayed, err = engine.Submit(ctx, h.engine, muting(ctx, h, m.Room, unpaused(ctx, h, m.Room, engine.Command[*core.Channel, hub.MessageID, hub.EncodedMessage]{
			Owner: core.ChannelOwner(m.Channel), Agent: in.FromAgent, Size: size, Codec: h.messageCodec(),
			Decide: func(c *core.Channel, now core.Now) (core.Decision[hub.MessageID], error) {
				if err := h.refuseArchived(&m); err != nil {
					return core.Decision[hub.MessageID]{}, err
				}
				if err := talk.Enter(now); err != nil {
					return core.Decision[hub.MessageID]{}, err
				}
				return c.Post(m), nil
			},
			Answer: postedRow,
		})))
	}
	return hub.Outcome[hub.EncodedMessage]{Row: row, Created: true, Replayed: replayed}, err
}

// postTask posts a message that may open, complete or parent a task. The run
// that a new task joins may have ended.
func (h *Hub) postTask(ctx context.Context, c core.PostTaskCommand, size int) (hub.Outcome[hub.EncodedMessage], error) {
	m := &c.Message
	if m.Kind.OpensTask() {
		var err error
		if c.Run, err = runOf(m.Metadata); err != nil {
			return hub.Outcome[hub.EncodedMessage]{}, err
		}
	}
	out, err := withEndedRun(h, func(ended *core.EndedRun) (hub.Outcome[hub.EncodedMessage], error) {
		c.Ended = ended
		row, replayed, err := engine.Submit(ctx, h.engine, muting(ctx, h, m.Room, engine.Command[*core.Tasks, core.TaskPosted, hub.EncodedMessage]{
			Owner: core.TasksOwner(), Agent: m.From, Size: size, Codec: h.messageCodec(),
			Decide: func(t *core.Tasks, now core.Now) (core.Decision[core.TaskPosted], error) {
				if err := h.taskPostPaused(ctx, m); err != nil {
					return core.Decision[core.TaskPosted]{}, err
				}
				if err := h.refuseArchived(m); err != nil {
					return core.Decision[core.TaskPosted]{}, err
				}
				return t.Post(c, now, taskWorld{h})
			},
			Answer: func(_ core.TaskPosted, r *core.Record) hub.EncodedMessage { return r.Messages[0].JSON },
		}))
		return hub.Outcome[hub.EncodedMessage]{Row: row, Created: true, Replayed: replayed}, err
	})
	if e, ok := errors.AsType[*hub.Error](err); ok && e.Code == hub.CodeRunNotFound {
		err = e.WithStatus(http.StatusBadRequest).With("field", "metadata.run_id") // the post names a run that does not exist
	}
	return out, err
}

func postedRow(_ hub.MessageID, r *core.Record) hub.EncodedMessage { return r.Messages[0].JSON }

// draftPost checks the names in a post and makes the message. Channels and messages are not
// deleted, but a sender that saw a message for its task alone no longer sees it when the task
// is given to another agent.
func (h *Hub) draftPost(caller *hub.Caller, in *hub.PostInput) (core.MessageDraft, error) {
	m := core.MessageDraft{
		From: in.FromAgent, To: in.ToAgent, Channel: in.Channel, Kind: in.Kind, Body: in.Body,
		Attachments: in.Attachments, ReplyTo: in.ReplyTo, Thread: in.ThreadID, Metadata: in.Metadata,
		Parent: in.ParentTaskID, Authority: hub.AuthorityAgent, Assurance: caller.Assurance(),
	}
	if caller.Operator {
		m.Authority = hub.AuthorityOperator
	}
	m.Room = h.view.RoomOf(m.Channel)
	var err error
	if m.To, err = h.view.Successor(m.To); err != nil {
		return m, err
	}
	if err := h.unclear(m.To, in.UnlessNear); err != nil {
		return m, err
	}
	if m.To == "" {
		if err := h.checkChannel(m.Channel, http.StatusBadRequest); err != nil {
			return m, err
		}
	}
	if m.ReplyTo != 0 {
		known, err := h.view.Knows(view.Viewer{Agent: m.From, All: caller.Operator}, m.ReplyTo)
		if err != nil {
			return m, err
		}
		if !known {
			return m, hub.Errorf(hub.CodeReplyNotFound, "there is no message %d to reply to", m.ReplyTo).
				With("field", "reply_to").WithFix("name the id of a message that the sender has seen")
		}
	}
	return m, nil
}

// checkChannel refuses a channel that does not exist, with this HTTP status.
func (h *Hub) checkChannel(name hub.ChannelName, status int) error {
	row, err := h.knownChannel(name)
	if err != nil || row {
		return err
	}
	return hub.Errorf(hub.CodeChannelNotFound, "there is no channel %s", name).WithStatus(status).
		With("channel", name)
}

// refuseArchived refuses what would be said where nobody is shown it: a public post to an
// archived channel, and a task in an archived room. The end of a task that is there already
// is let through. It looks when the post is decided, as a pause does.
func (h *Hub) refuseArchived(m *core.MessageDraft) error {
	if m.Kind == hub.KindTaskResult || m.To != "" && !m.Kind.OpensTask() || !h.view.Places.Closed(m.Channel) {
		return nil
	}
	return h.errArchived(m.Channel)
}

// errArchived refuses a post to an archived channel.
func (h *Hub) errArchived(channel hub.ChannelName) error {
	return view.Look(h.view.Places, func(x *core.ProjectIndex) error { return x.ErrArchived(channel) })
}

func (h *Hub) messageCodec() engine.Codec[hub.EncodedMessage] {
	return engine.Codec[hub.EncodedMessage]{
		Kind:   engine.EffectMessage,
		Encode: encodeMessageEffect,
		Decode: func(_ context.Context, e *core.Effect) (hub.EncodedMessage, error) {
			if len(e.Answer) < 8 {
				return nil, hub.NewError(hub.CodeCorruptRecord, "a stored answer cannot be read")
			}
			m, err := h.view.Message(hub.MessageID(binary.BigEndian.Uint64(e.Answer)))
			if err != nil {
				return nil, err
			}
			return m.JSON, nil
		},
	}
}

// encodeMessageEffect stores only the message's id: its row is stored anyway. The
// row begins with {"id":, so the digits are read from there.
func encodeMessageEffect(row hub.EncodedMessage) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(messageID(row)))
}

// messageID reads the id of a row.
func messageID(row hub.EncodedMessage) (id hub.MessageID) {
	for _, c := range row[len(`{"id":`):] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + hub.MessageID(c-'0')
	}
	return id
}

// Message returns one whole row; see hub.Messages.
func (h *Hub) Message(ctx context.Context, id hub.MessageID, viewer hub.AgentID) (hub.EncodedMessage, error) {
	m, err := h.view.Message(id)
	if err != nil {
		return nil, err
	}
	if !hub.CallerOf(ctx).Operator && !hub.Visible(viewer, m.From, m.To) {
		return nil, view.ErrMessageNotFound(id)
	}
	if err := h.view.Share(ctx, len(m.JSON)); err != nil {
		return nil, err
	}
	h.view.ReadWhole(ctx, viewer, id)
	return m.JSON, nil
}

// Messages returns public rows; see hub.Messages.
func (h *Hub) Messages(ctx context.Context, q hub.MessagesQuery) (hub.Page, error) {
	f := view.Feed{Limit: q.Limit, Tail: q.Tail && q.Since == 0}
	if q.Channel != "" {
		if err := h.checkChannel(q.Channel, http.StatusNotFound); err != nil {
			return hub.Page{}, err
		}
		f.Scopes, f.Thread = []core.Scope{view.ChannelScope(q.Channel)}, q.ThreadID
	} else {
		f.Scopes = []core.Scope{view.ThreadScope(q.ThreadID)}
	}
	return h.poll(ctx, pollCall{feed: f, since: q.Since, wait: q.Wait, agent: waiter(ctx)})
}

// Inbox returns direct messages to an agent; see hub.Messages.
func (h *Hub) Inbox(ctx context.Context, q hub.InboxQuery) (hub.Page, error) {
	f := view.Feed{Scopes: []core.Scope{view.InboxScope(q.Agent)}, Viewer: q.Agent, Limit: q.Limit, Tail: q.Tail && q.Since == 0}
	h.view.NoteInbox(ctx, &q)
	call := pollCall{feed: f, since: q.Since, rations: q.Agent, path: hub.GivenByInbox}
	if !q.Peek {
		call.reader = q.Agent
	}
	page, err := h.poll(ctx, call)
	if err == nil {
		h.view.NoteInboxAnswer(ctx, &q, &page, h.engine.Clock.Now().Wall)
	}
	return page, err
}

// checkAwaits refuses to wait for the answer to what is no message of the agent.
func (h *Hub) checkAwaits(q *hub.EventsQuery) error {
	if q.Awaits == 0 {
		return nil
	}
	m, err := h.view.Message(q.Awaits)
	if err == nil && m.From != q.Agent {
		err = view.ErrMessageNotFound(q.Awaits)
	}
	return err
}

// Events waits for rows; see hub.Messages.
func (h *Hub) Events(ctx context.Context, q hub.EventsQuery) (hub.Page, error) {
	f := view.Feed{Viewer: q.Agent, Thread: q.ThreadID, Limit: q.Limit}
	if q.ExcludeSelf {
		f.Exclude = q.Agent
	}
	switch {
	case q.RoomID != "":
		room, err := h.view.Room(q.RoomID)
		if err != nil {
			return hub.Page{}, err
		}
		f.Scopes = []core.Scope{view.ChannelScope(room.Channel), view.InboxScope(q.Agent)}
	case len(q.Channels) > 0:
		for i, c := range q.Channels {
			if slices.Contains(q.Channels[:i], c) {
				continue
			}
			if err := h.checkChannel(c, http.StatusNotFound); err != nil {
				return hub.Page{}, err
			}
			f.Scopes = append(f.Scopes, view.ChannelScope(c))
		}
		f.Scopes = append(f.Scopes, view.InboxScope(q.Agent))
	case q.ThreadID != "":
		f.Scopes = []core.Scope{view.ThreadScope(q.ThreadID)}
	default:
		f.Scopes = []core.Scope{view.PublicScope(), view.InboxScope(q.Agent)}
		f.Without = h.view.Places.Archived
	}
	if err := h.checkAwaits(&q); err != nil {
		return hub.Page{}, err
	}
	h.view.NotePoll(ctx, &q)
	call := pollCall{feed: f, since: q.Since, wait: q.Wait, maxChars: q.MaxChars, agent: q.Agent, rations: q.Agent, path: hub.GivenByPoll, awaits: q.Awaits}
	if !q.Peek {
		call.reader = q.Agent
	}
	if q.Streamed {
		call.path = hub.GivenByStream
	}
	page, err := h.poll(ctx, call)
	if err == nil {
		h.view.NoteAnswer(ctx, &q, &page, h.engine.Clock.Now().Wall)
	}
	return page, err
}
