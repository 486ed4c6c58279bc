package mcp

import (
	"context"
	"fmt"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/mcp/session"
)

// taskEvery is how often a call that waits for an answer looks at its task even
// if nothing wakes it.
const taskEvery = 10 * time.Second

func rpcTools() []tool {
	return []tool{
		define(tool{
			name: "hub_rpc_call", title: "Ask an agent and wait",
			description: "Ask one agent to do something and wait for its answer. To wait longer, call again with request_id only.",
		}, rpcCall),
	}
}

type rpcIn struct {
	ToAgent        hub.AgentID     `json:"to_agent,omitempty" jsonschema:"agent to ask"`
	Body           string          `json:"body,omitempty" jsonschema:"what for" most:"4000000"`
	RequestID      hub.MessageID   `json:"request_id,omitempty" jsonschema:"keep waiting for this request" range:"1,9007199254740991"`
	TimeoutSeconds *float64        `json:"timeout_seconds,omitempty" jsonschema:"default 25" range:"0,3600"`
	Channel        hub.ChannelName `json:"channel,omitempty" jsonschema:"of a public answer; default: your room's"`
	ThreadID       hub.ThreadID    `json:"thread_id,omitempty" jsonschema:"any name"`
	New            bool            `json:"new,omitempty" jsonschema:"the agent is still to come"`
	IdempotencyKey string          `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// reply is the answer to hub_rpc_call.
type reply struct {
	RequestID  hub.MessageID  `json:"request_id"`
	To         hub.AgentID    `json:"to,omitempty" lean:"-"`
	Answered   bool           `json:"answered"`
	TimedOut   bool           `json:"timed_out" lean:"-"`
	TaskStatus hub.TaskStatus `json:"task_status,omitempty"` // set if the task ended without an answer or is still open
	Result     *shownMessage  `json:"result,omitempty" lean:"-"`
	Cursor     hub.MessageID  `json:"cursor" lean:"-"` // the answer was looked for up to this message
}

func rpcCall(ctx context.Context, c *call, in rpcIn) (*answer, error) {
	patience := c.patience(in.TimeoutSeconds)
	deadline := c.until(patience)
	request, err := c.request(ctx, in)
	if err != nil {
		return nil, err
	}
	w := wait{call: c, request: &request, deadline: deadline, seen: request.ID}
	defer c.waiting(ctx, fmt.Sprintf("waiting for the answer to #%d", request.ID))()
	got, err := w.answer(ctx)
	if err != nil {
		if e := asError(err); ctx.Err() == nil {
			return nil, e.With("request_id", request.ID).WithFix(
				fmt.Sprintf("the request stands: do not send it again, call hub_rpc_call with request_id %d", request.ID))
		}
		return nil, err
	}
	r := reply{RequestID: request.ID, To: hub.Value(request.ToAgent), Cursor: w.seen, TaskStatus: w.status}
	if got == nil {
		r.TimedOut = !w.status.Terminal()
		line := fmt.Sprintf("No answer yet to #%d; the request stays open, do not ask again. To keep waiting: hub_rpc_call with request_id %d only. hub_poll_messages returns the answer too.", r.RequestID, r.RequestID)
		switch {
		case len(w.circle) > 1:
			line = fmt.Sprintf("To wait for the answer to #%d would close a circle: %s. None of you would go on. Do first what is asked of you (hub_poll_messages shows it, hub_done answers), or release what the others wait for; then keep waiting: hub_rpc_call with request_id %[1]d only.", r.RequestID, around(w.circle))
		case r.TimedOut:
			if receipt, err := c.hub().Receipt(ctx, r.RequestID, c.agent()); err == nil {
				line = session.Sentence(line, c.unheard(r.To, &receipt.Recipient))
			}
		default:
			line = fmt.Sprintf("Request #%d has ended as %s, without a task_result. Ask %s with hub_dm if you need more.", r.RequestID, w.status, who(r.To))
		}
		return &answer{data: r, line: line}, nil
	}
	return c.fit(func(room int) *answer {
		m := showMessage(got, 0, room-600)
		r.Answered, r.Result, r.TaskStatus = true, &m, ""
		line := fmt.Sprintf("%s answered #%d with #%d. hub_poll_messages brings it again.", word(string(got.FromAgent)), r.RequestID, got.ID)
		if m.Truncated != nil {
			line = fmt.Sprintf("%s answered #%d with #%d, %s", word(string(got.FromAgent)), r.RequestID, got.ID, m.Truncated)
		}
		return &answer{data: r, line: line, text: texts([]shownMessage{m}), untrusted: within("result.", ofPeers)}
	})
}

// request posts the request, or finds the one that was posted before.
func (c *call) request(ctx context.Context, in rpcIn) (hub.Message, error) {
	if in.RequestID == 0 {
		if in.ToAgent == "" || in.Body == "" {
			return hub.Message{}, hub.Invalid("to_agent", "a request needs to_agent and body").
				WithFix("name both; or only request_id, to keep waiting for an open request")
		}
		if in.ToAgent == c.agent() || in.ToAgent == hub.AgentSystem || in.ToAgent == hub.AgentHub {
			return hub.Message{}, hub.Invalid("to_agent", string(in.ToAgent)+" answers no request of yours: "+c.unheard(in.ToAgent, nil)).
				WithFix("ask another agent; hub_list_agents shows who is live")
		}
		row, _, err := c.send(ctx, hub.PostInput{
			FromAgent: c.agent(), ToAgent: in.ToAgent, Channel: in.Channel, Kind: hub.KindTaskRequest, Body: in.Body, ThreadID: in.ThreadID,
			UnlessNear: !in.New,
		}, in.IdempotencyKey)
		return row, err
	}
	enc, err := c.hub().Message(ctx, in.RequestID, c.agent())
	if err != nil {
		return hub.Message{}, err
	}
	row, err := enc.Decode()
	if err == nil && (row.FromAgent != c.agent() || !row.Kind.OpensTask()) {
		return row, hub.Invalid("request_id", "this is no request of yours").WithFix("name the request_id that hub_rpc_call has answered")
	}
	return row, err
}

// wait waits for the answer to one request. It reads new messages without
// marking them as read.
type wait struct {
	call     *call
	request  *hub.Message
	deadline time.Time
	seen     hub.MessageID
	status   hub.TaskStatus
	circle   []hub.AgentID // that would wait for each other
}

// answer returns the task_result, or nil if the time is over or the task has ended
// without one.
func (w *wait) answer(ctx context.Context) (*hub.Message, error) {
	for {
		row, err := w.look(ctx)
		if err != nil || row != nil {
			return row, err
		}
		task, err := w.call.hub().Task(ctx, w.request.ID, w.call.agent())
		if err != nil && !passes(err) {
			return nil, err
		}
		if err == nil {
			w.status = task.Status
		}
		if id := hub.Value(task.ResultMessageID); id != 0 {
			return w.result(ctx, id)
		}
		if w.circle != nil || w.status.Terminal() || !time.Now().Before(w.deadline) {
			return nil, nil
		}
	}
}

func (w *wait) result(ctx context.Context, id hub.MessageID) (*hub.Message, error) {
	enc, err := w.call.hub().Message(ctx, id, w.call.agent())
	if err != nil {
		return nil, err
	}
	row, err := enc.Decode()
	return &row, err
}

// look reads new messages in the inbox and in the request's channel. If there
// are none, it waits a while.
func (w *wait) look(ctx context.Context) (*hub.Message, error) {
	left := max(time.Until(w.deadline), 0)
	q := hub.EventsQuery{
		Agent: w.call.agent(), Channels: []hub.ChannelName{w.request.Channel}, Since: w.seen, Limit: hub.MaxPageRows,
		Wait: min(left, taskEvery), Peek: true, Awaits: w.request.ID,
	}
	began := time.Now()
	page, err := w.call.hub().Events(ctx, q)
	if e := asErrorOrNil(err); e != nil && e.Code == hub.CodeChannelNotFound {
		// The label of the request names no channel: the inbox alone can bring the answer.
		q.Channels[0] = hub.DirectChannel
		page, err = w.call.hub().Events(ctx, q)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !passes(err) || left == 0 {
			return nil, err
		}
	}
	for _, enc := range page.Rows {
		row, err := enc.Decode()
		if err != nil {
			return nil, hub.NewError(hub.CodeCorruptRecord, "a message cannot be read")
		}
		if row.Kind == hub.KindTaskResult && hub.Value(row.ReplyTo) == w.request.ID {
			return &row, nil
		}
	}
	w.seen, w.circle = max(w.seen, page.NextSinceID), page.Circle
	if len(page.Rows) == 0 && time.Since(began) < min(retryPause, left) && !pause.For(ctx, min(retryPause, left)) {
		return nil, context.Cause(ctx)
	}
	return nil, nil
}

func asErrorOrNil(err error) *hub.Error {
	if err == nil {
		return nil
	}
	return asError(err)
}
