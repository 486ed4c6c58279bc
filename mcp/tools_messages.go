package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/mcp/session"
)

// messageTools post messages, and read single messages and threads.
func messageTools() []tool {
	return []tool{
		define(tool{
			name: "hub_post_message", title: "Post", preload: true,
			description: "Write to your room, or with to_agent to one agent. kind: task (for anyone), task_request (for to_agent), task_result (set reply_to).",
		}, postMessage),
		define(tool{
			name: "hub_dm", title: "Message one agent",
			description: "Send a direct message to one agent. The human operator can read it too.",
		}, directMessage),
		define(tool{
			name: "hub_get_message", title: "Read one message", reads: true, idempotent: true,
			description: "Read one message in full, or continue where an answer was cut.",
		}, getMessage),
		define(tool{
			name: "hub_get_thread", title: "Read a thread", reads: true, idempotent: true,
			description: "Read a thread: its messages, open tasks and claims.",
		}, getThread),
		define(tool{
			name: "hub_create_channel", title: "Make a channel", idempotent: true,
			description: "Make a public channel that belongs to no room, if it is not there.",
		}, createChannel),
	}
}

type postIn struct {
	Body           string          `json:"body" jsonschema:"text" most:"4000000"`
	ToAgent        hub.AgentID     `json:"to_agent,omitempty" jsonschema:"one agent"`
	Channel        hub.ChannelName `json:"channel,omitempty" jsonschema:"default: your room's"`
	Kind           hub.Kind        `json:"kind,omitempty" jsonschema:"default chat" enum:"chat,notice,task,task_request,task_result"`
	ReplyTo        hub.MessageID   `json:"reply_to,omitempty" jsonschema:"message id"`
	ThreadID       hub.ThreadID    `json:"thread_id,omitempty" jsonschema:"name"`
	ParentTaskID   hub.TaskID      `json:"parent_task_id,omitempty" jsonschema:"task it is part of"`
	BlockedBy      []hub.TaskID    `json:"blocked_by,omitempty" jsonschema:"task ids"`
	Metadata       string          `json:"metadata,omitempty" jsonschema:"JSON object" most:"500000"`
	New            bool            `json:"new,omitempty" jsonschema:"the agent is still to come"`
	Attachments    attachmentList  `json:"attachments,omitzero" jsonschema:"type: text, json, code, file_ref"`
	IdempotencyKey string          `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// attachmentList holds the attachments as they are given.
type attachmentList struct{ rawList }

func postMessage(ctx context.Context, c *call, in postIn) (*answer, error) {
	post := hub.PostInput{
		FromAgent: c.agent(), ToAgent: in.ToAgent, Channel: in.Channel, Kind: in.Kind, Body: in.Body,
		ReplyTo: in.ReplyTo, ThreadID: in.ThreadID, ParentTaskID: in.ParentTaskID, BlockedBy: in.BlockedBy, UnlessNear: in.ToAgent != "" && !in.New,
	}
	var err error
	if post.Metadata, err = object("metadata", in.Metadata); err != nil {
		return nil, err
	}
	if len(in.Attachments.rawList) > 0 {
		if err := json.Unmarshal(in.Attachments.rawList, &post.Attachments); err != nil {
			return nil, hub.Invalid("attachments", "attachments must be a list of attachments").
				WithFix(`write [{"type":"text","content":"…"}]; types: text, json, code, file_ref, diff_ref`)
		}
	}
	return c.post(ctx, post, in.IdempotencyKey)
}

type dmIn struct {
	ToAgent        hub.AgentID   `json:"to_agent" jsonschema:"agent id"`
	Body           string        `json:"body" jsonschema:"text" most:"4000000"`
	Kind           hub.Kind      `json:"kind,omitempty" jsonschema:"default chat" enum:"chat,notice,task,task_request,task_result"`
	TaskID         hub.TaskID    `json:"task_id,omitempty" jsonschema:"with task_request: the task meant"`
	ReplyTo        hub.MessageID `json:"reply_to,omitempty" jsonschema:"message id"`
	ThreadID       hub.ThreadID  `json:"thread_id,omitempty" jsonschema:"any name"`
	New            bool          `json:"new,omitempty" jsonschema:"the agent is still to come"`
	IdempotencyKey string        `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func directMessage(ctx context.Context, c *call, in dmIn) (*answer, error) {
	post := hub.PostInput{
		FromAgent: c.agent(), ToAgent: in.ToAgent, Kind: in.Kind, Body: in.Body, ReplyTo: in.ReplyTo, ThreadID: in.ThreadID,
		UnlessNear: !in.New,
	}
	if in.TaskID != 0 {
		return c.requestTask(ctx, in.TaskID, post, in.IdempotencyKey)
	}
	return c.post(ctx, post, in.IdempotencyKey)
}

// posted is the answer to a post.
type posted struct {
	ID       hub.MessageID   `json:"id"`
	Channel  hub.ChannelName `json:"channel" lean:"-"`
	RoomID   hub.RoomID      `json:"room_id,omitempty" lean:"-"`
	To       hub.AgentID     `json:"to,omitempty" lean:"-"`
	Kind     hub.Kind        `json:"kind" lean:"-"`
	ThreadID hub.ThreadID    `json:"thread_id,omitempty" lean:"-"`
	TaskID   hub.TaskID      `json:"task_id,omitempty" lean:"-"` // the task that it opened
	Replayed bool            `json:"replayed,omitempty"`
}

// post sends a message; without a channel it goes to the agent's room.
func (c *call) post(ctx context.Context, in hub.PostInput, key string) (*answer, error) {
	row, out, err := c.send(ctx, in, key)
	if err != nil {
		return nil, err
	}
	p := posted{
		ID: row.ID, Channel: row.Channel, RoomID: hub.Value(row.RoomID), To: hub.Value(row.ToAgent), Kind: row.Kind,
		ThreadID: hub.Value(row.ThreadID), Replayed: out.Replayed,
	}
	where := "to " + quoted(string(p.Channel), 60)
	if p.To != "" {
		where = "to " + string(p.To) + " alone"
	}
	line := fmt.Sprintf("Posted #%d %s.", p.ID, where)
	if row.Kind.OpensTask() {
		p.TaskID = row.ID
		line = fmt.Sprintf("Posted task #%d %s.", p.ID, where)
		if len(in.BlockedBy) > 0 {
			line = session.Sentence(line, c.waitsFor(ctx, row.ID))
		}
	}
	if p.To != "" {
		if in.ToAgent != "" && p.To != in.ToAgent {
			line = session.Sentence(line, fmt.Sprintf("%s goes on as %s: write to this name from now on.", in.ToAgent, p.To))
		}
		line = session.Sentence(line, c.unheard(p.To, out.Recipient))
	}
	if out.Muted != nil {
		line = session.Sentence(line, peertext.ModelLine(out.Muted.Says()))
	}
	if out.Replayed {
		line = fmt.Sprintf("This was posted before, as #%d; nothing new was posted.", p.ID)
	}
	return &answer{data: p, line: line}, nil
}

// waitsFor says what a new task waits for. It is only a remark: if the lookup
// fails, it says nothing.
func (c *call) waitsFor(ctx context.Context, id hub.TaskID) string {
	task, err := c.hub().Task(ctx, id, c.agent())
	switch {
	case err != nil || task.Status.Terminal():
		return ""
	case task.Ready:
		return "All tasks that it was to wait for have ended: it is ready."
	}
	if len(task.OpenBlockers) == 0 {
		return "A task that it was to wait for has failed or was cancelled: if it goes on, set its blocked_by to []."
	}
	return "It waits for" + taskNumbers(task.OpenBlockers) + "."
}

// send posts a message and returns its row, and what the hub says of the post.
func (c *call) send(ctx context.Context, in hub.PostInput, key string) (row hub.Message, out hub.Posted, err error) {
	if in.Channel == "" {
		room, err := c.home(ctx)
		if err != nil {
			return row, out, err
		}
		if room != "" {
			in.Channel = room.Channel() // a direct message carries it as a label: the room that the message is about
		}
	}
	if out, err = c.hub().Post(c.key(ctx, key), in); err != nil {
		return row, out, err
	}
	if row, err = out.Row.Decode(); err != nil {
		return row, out, hub.NewError(hub.CodeCorruptRecord, "the hub's answer cannot be read")
	}
	return row, out, nil
}

// object reads an argument that is a JSON object in a string.
func object(field, text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil || members == nil {
		return nil, hub.Invalid(field, field+" must be a JSON object in a string").
			WithFix(`write the string as {"name":"value"}, its quotes escaped as JSON wants it`)
	}
	return json.RawMessage(text), nil
}

type getMessageIn struct {
	MessageID hub.MessageID `json:"message_id" jsonschema:"id"`
	Part      string        `json:"part,omitempty" jsonschema:"default body" enum:"body,attachments,metadata"`
	Offset    int           `json:"offset,omitempty" jsonschema:"first character" range:"0,100000000"`
}

// slice is a piece of one part of a message, beginning at a character offset.
type slice struct {
	MessageID hub.MessageID `json:"message_id"`
	From      hub.AgentID   `json:"from"`
	Authority hub.Authority `json:"authority"`
	Assurance hub.Assurance `json:"assurance"`
	User      string        `json:"local_user,omitempty"`
	Part      string        `json:"part"`
	Offset    int           `json:"offset"`
	Text      peerText      `json:"text"`
	Truncated *cutMark      `json:"truncated,omitempty"`
}

func getMessage(ctx context.Context, c *call, in getMessageIn) (*answer, error) {
	enc, err := c.hub().Message(ctx, in.MessageID, c.agent())
	if err != nil {
		return nil, err
	}
	row, err := enc.Decode()
	if err != nil {
		return nil, hub.NewError(hub.CodeCorruptRecord, "the message cannot be read")
	}
	if in.Part == "" && in.Offset == 0 {
		receipt := c.receipt(ctx, &row)
		return c.fit(func(room int) *answer {
			m := showMessage(&row, 0, room-400)
			line := fmt.Sprintf("Message #%d from %s. To answer: hub_post_message with reply_to %d.", row.ID, row.FromAgent, row.ID)
			if m.Truncated != nil {
				line = fmt.Sprintf("Message #%d from %s, %s", row.ID, row.FromAgent, m.Truncated)
			}
			line = session.Sentence(line, receipt)
			return &answer{data: m, line: line, prose: true, text: texts([]shownMessage{m}), untrusted: ofPeers}
		})
	}
	whole := row.Body
	switch in.Part {
	case "attachments":
		whole = jsonText(row.Attachments)
	case "metadata":
		whole = jsonText(row.Metadata)
	default:
		in.Part = "body"
	}
	return c.fit(func(room int) *answer {
		part, end, all := clip(whole, in.Offset, room-400)
		s := slice{
			MessageID: row.ID, From: row.FromAgent, Authority: row.Authority, Assurance: row.Assurance, User: row.User,
			Part: in.Part, Offset: in.Offset, Text: peerText(part),
		}
		line := fmt.Sprintf("The %s of #%d from character %d to its end.", in.Part, row.ID, in.Offset)
		if !all {
			s.Truncated = &cutMark{
				Chars: chars(whole), Shown: end,
				Calls: []string{fmt.Sprintf(`hub_get_message {"message_id":%d,"part":%q,"offset":%d}`, row.ID, in.Part, end)},
			}
			line = fmt.Sprintf("The %s of #%d, %s", in.Part, row.ID, s.Truncated)
		}
		shown := shownMessage{From: s.From, Authority: s.Authority, Assurance: s.Assurance, User: s.User}
		text := fmt.Sprintf("%s of #%d %s, character %d to %d\n%s\n",
			in.Part, row.ID, shown.sender(), in.Offset, end, fenced(part))
		return &answer{data: s, line: line, prose: true, text: text, untrusted: []string{"text"}}
	})
}

// receipt says what has become of a direct message of the agent's own, and returns
// "" for other messages. It is only a remark: if the lookup fails, it says nothing.
func (c *call) receipt(ctx context.Context, row *hub.Message) string {
	if row.FromAgent != c.agent() || row.ToAgent == nil {
		return ""
	}
	got, err := c.hub().Receipt(ctx, row.ID, c.agent())
	if err != nil {
		return ""
	}
	return got.Says()
}

// jsonText returns v as one line of JSON without unsafe characters.
func jsonText(v any) string {
	b, err := compact(v)
	if err != nil {
		return ""
	}
	return string(peertext.ModelJSON(b))
}

// showMessages returns the first rows: at most limit, in about room characters.
// The first row is always included, and no body takes more than its share. more
// reports whether rows are left.
func showMessages(rows []hub.Message, limit, room int) (list []shownMessage, more bool) {
	const least = 400 // characters for a message's other fields and a little of its body
	list = []shownMessage{}
	for i := range rows {
		if i == limit || i > 0 && room < least {
			return list, true
		}
		share := max(room-least, 100)
		if i+1 < min(len(rows), limit) {
			share = max(share/2, 100)
		}
		m := showMessage(&rows[i], 0, share)
		room -= size(m)
		list = append(list, m)
	}
	return list, false
}

type channelIn struct {
	Name           hub.ChannelName `json:"name" jsonschema:"not beginning with room-" range:"ChannelInput.name"`
	Metadata       string          `json:"metadata,omitempty" jsonschema:"JSON object" most:"500000"`
	IdempotencyKey string          `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// channelMade is the answer to hub_create_channel.
type channelMade struct {
	Name      hub.ChannelName `json:"name"`
	Created   bool            `json:"created"`
	CreatedBy hub.AgentID     `json:"created_by" lean:"-"`
	CreatedAt hub.Time        `json:"created_at" lean:"-"`
}

func createChannel(ctx context.Context, c *call, in channelIn) (*answer, error) {
	metadata, err := object("metadata", in.Metadata)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().CreateChannel(c.key(ctx, in.IdempotencyKey), hub.ChannelInput{
		Name: in.Name, CreatedBy: c.agent(), Metadata: metadata,
	})
	if err != nil {
		return nil, err
	}
	row := out.Row
	how := "exists already, made by " + word(string(row.CreatedBy))
	if out.Created {
		how = "is made"
	}
	return &answer{
		data: channelMade{Name: row.Name, Created: out.Created, CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt},
		line: fmt.Sprintf("Channel %s %s. Name it as channel to post there or to read it.", quoted(string(row.Name), 60), how),
	}, nil
}
