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
	"hubcli/actors/gate"
	"hubcli/actors/guard"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Post stores a message; see hub.Messages.
func (h *Hub) Post(ctx context.Context, in hub.PostInput) (hub.Posted, error) {
	p := newPosting(h, hub.CallerOf(ctx), &in)
	out, err := p.post(ctx)
	if err != nil {
		return hub.Posted{}, err
	}
	m := &p.message
	if out.Replayed {
		p.unreached = h.unreached(m.From, m.To)
	}
	h.view.NoteReply(ctx, m.From, m.ReplyTo)
	h.view.ReadWhole(ctx, m.From, m.ReplyTo)
	return hub.Posted{Outcome: out, Recipient: p.unreached, Muted: h.mutedNow(ctx, m, out.Row)}, nil
}

// posting is one post on its way.
type posting struct {
	h         *Hub
	in        *hub.PostInput
	act       gate.Act
	message   core.MessageDraft
	size      int
	talk      *guard.Post    // after check
	unreached *hub.Recipient // as the recipient was before the message; after check
}

// newPosting makes the message of an input whose names are not checked yet.
func newPosting(h *Hub, caller *hub.Caller, in *hub.PostInput) *posting {
	p := &posting{h: h, in: in, size: len(in.Body) + len(in.Metadata), message: core.MessageDraft{
		From: in.FromAgent, To: in.ToAgent, Channel: in.Channel, Kind: in.Kind, Body: in.Body,
		Attachments: in.Attachments, ReplyTo: in.ReplyTo, Thread: in.ThreadID, Metadata: in.Metadata,
		Parent: in.ParentTaskID, Authority: hub.AuthorityAgent, Assurance: caller.Assurance(), Room: h.view.RoomOf(in.Channel),
	}}
	for i := range in.Attachments {
		p.size += len(in.Attachments[i].Content)
	}
	m := &p.message
	if caller.Operator {
		m.Authority = hub.AuthorityOperator
	}
	p.act = gate.Act{
		Op: "postMessage", Agent: m.From, Room: m.Room, Shown: m.Channel,
		NothingNew: m.To != "" && !m.Kind.OpensTask(), Asks: asks.IsQuestion(m),
	}
	if m.Kind == hub.KindTaskResult {
		p.act.Task, p.act.Frees = m.ReplyTo, true
	}
	return p
}

// post lets the owner of a message decide.
func (p *posting) post(ctx context.Context) (out hub.Outcome[hub.EncodedMessage], err error) {
	defer func() {
		if p.talk != nil {
			p.talk.Leave()
		}
	}()
	h, m := p.h, &p.message
	out.Created = true
	switch {
	case m.Kind.OpensTask(), m.Kind == hub.KindTaskResult, m.Parent != 0:
		out.Row, out.Replayed, err = p.postTask(ctx)
	case p.act.Asks:
		out.Row, out.Replayed, err = h.asks.Post(ctx, &p.act, p.size, h.messageCodec(), func() (core.MessageDraft, error) {
			err := p.check()
			return *m, err
		})
	case m.To != "":
		out.Row, out.Replayed, err = gate.Do(ctx, h.gate, &p.act, h.messageCodec(), func() (engine.Command[*core.Agent, hub.MessageID, hub.EncodedMessage], error) {
			err := p.check()
			p.act.Enter = p.talk.Enter
			return engine.Command[*core.Agent, hub.MessageID, hub.EncodedMessage]{
				Owner: core.AgentOwner(m.To), Size: p.size, Answer: postedRow,
				Decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.MessageID], error) { return a.Deliver(*m), nil },
			}, err
		})
	default:
		out.Row, out.Replayed, err = gate.Do(ctx, h.gate, &p.act, h.messageCodec(), func() (engine.Command[*core.Channel, hub.MessageID, hub.EncodedMessage], error) {
			err := p.check()
			p.act.Enter = p.talk.Enter
			return engine.Command[*core.Channel, hub.MessageID, hub.EncodedMessage]{
				Owner: core.ChannelOwner(m.Channel), Size: p.size, Answer: postedRow,
				Decide: func(c *core.Channel, _ core.Now) (core.Decision[hub.MessageID], error) { return c.Post(*m), nil },
			}, err
		})
	}
	return out, err
}

// postTask posts a message that may open, complete or parent a task. The run
// that a new task joins may have ended.
func (p *posting) postTask(ctx context.Context) (row hub.EncodedMessage, replayed bool, err error) {
	h, m := p.h, &p.message
	var c core.PostTaskCommand
	row, err = withEndedRun(h, func(ended *core.EndedRun) (row hub.EncodedMessage, err error) {
		row, replayed, err = gate.Do(ctx, h.gate, &p.act, h.messageCodec(), func() (engine.Command[*core.Tasks, core.TaskPosted, hub.EncodedMessage], error) {
			err := p.check()
			c = core.PostTaskCommand{Message: *m, BlockedBy: p.in.BlockedBy, Force: p.in.Force, By: h.standing(ctx, m.From), Ended: ended}
			if err == nil && m.Kind.OpensTask() {
				c.Run, err = runOf(m.Metadata)
			}
			return engine.Command[*core.Tasks, core.TaskPosted, hub.EncodedMessage]{
				Owner: core.TasksOwner(), Size: p.size,
				Decide: func(t *core.Tasks, now core.Now) (core.Decision[core.TaskPosted], error) {
					return t.Post(c, now, taskWorld{h})
				},
				Answer: func(_ core.TaskPosted, r *core.Record) hub.EncodedMessage { return r.Messages[0].JSON },
			}, err
		})
		return row, err
	})
	if e, ok := errors.AsType[*hub.Error](err); ok && e.Code == hub.CodeRunNotFound {
		err = e.WithStatus(http.StatusBadRequest).With("field", "metadata.run_id") // the post names a run that does not exist
	}
	return row, replayed, err
}

func postedRow(_ hub.MessageID, r *core.Record) hub.EncodedMessage { return r.Messages[0].JSON }

// check checks the names in a post, once, and tells the guard of loops that it comes. Channels and
// messages are not deleted, but a sender that saw a message for its task alone no longer sees it
// when the task is given to another agent.
func (p *posting) check() error {
	h, m := p.h, &p.message
	if p.talk != nil {
		return nil
	}
	p.talk = &guard.Post{}
	var err error
	if m.To, err = h.view.Successor(m.To); err != nil {
		return err
	}
	// Before the commit: this message ends the wait of a recipient that it wakes.
	p.unreached = h.unreached(m.From, m.To)
	if err := h.unclear(m.To, p.in.UnlessNear); err != nil {
		return err
	}
	if m.To == "" {
		if err := h.checkChannel(m.Channel, http.StatusBadRequest); err != nil {
			return err
		}
	}
	if m.ReplyTo != 0 {
		known, err := h.view.Knows(view.Viewer{Agent: m.From, All: m.Authority == hub.AuthorityOperator}, m.ReplyTo)
		if err != nil {
			return err
		}
		if !known {
			return hub.Errorf(hub.CodeReplyNotFound, "there is no message %d to reply to", m.ReplyTo).
				With("field", "reply_to").WithFix("name the id of a message that the sender has seen")
		}
	}
	p.talk = h.guard.Begin(m)
	return nil
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
	if !h.view.HandsOut(ctx, id) {
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
