package smoke

import (
	"context"
	"fmt"

	"hubcli/hub"
)

// direct: what smoke-a sends to smoke-b alone reaches smoke-b, and smoke-c on no
// way, though it learns the message's id.
func (p *player) direct(ctx context.Context) (string, error) {
	if p.me() == RoleA {
		sent, err := p.post(ctx, hub.PostInput{ToAgent: RoleB, ThreadID: p.cfg.Thread, Body: "between us"}, note{Word: "secret"})
		if err != nil {
			return "", err
		}
		if sent.ToAgent == nil || *sent.ToAgent != RoleB {
			return "", wrong("the direct message %d has to_agent %s", sent.ID, shown(sent.ToAgent))
		}
		if _, err := p.say(ctx, note{Word: "sent", IDs: []hub.MessageID{sent.ID}}); err != nil {
			return "", err
		}
	}
	// An agent that polls past this message has seen all earlier ones.
	marker, err := p.await(ctx, RoleA, "sent")
	if err != nil {
		return "", err
	}
	if len(marker.note.IDs) != 1 || marker.note.IDs[0] >= marker.ID {
		return "", wrong("message %d came after %v, which was posted later", marker.ID, marker.note.IDs)
	}
	id := marker.note.IDs[0]
	said := ""
	switch {
	case p.me() == RoleA:
		said, err = p.senderOf(ctx, id)
	case p.me() == RoleB:
		said, err = p.recipientOf(ctx, id)
	case p.me() == RoleC:
		said, err = p.strangerTo(ctx, id)
	}
	return said, err
}

// senderOf: the sender sees its message, and the answer of its recipient.
func (p *player) senderOf(ctx context.Context, id hub.MessageID) (string, error) {
	if _, err := p.one(ctx, id); err != nil {
		return "", err
	}
	reply, err := p.await(ctx, RoleB, "answer")
	if err != nil {
		return "", err
	}
	if reply.ToAgent == nil || *reply.ToAgent != RoleA || reply.ReplyTo == nil || *reply.ReplyTo != id {
		return "", wrong("the answer %d to message %d has to_agent %s and reply_to %s", reply.ID, id, shown(reply.ToAgent), shown(reply.ReplyTo))
	}
	return fmt.Sprintf("message %d to smoke-b was answered with %d", id, reply.ID), nil
}

// recipientOf: the recipient has seen it before the marker, and finds it in its
// inbox.
func (p *player) recipientOf(ctx context.Context, id hub.MessageID) (string, error) {
	secret, ok := p.said(RoleA, "secret")
	if !ok || secret.ID != id || secret.Body != "between us" {
		return "", wrong("the poll went past message %d, a direct one to this agent, without showing it", id)
	}
	page, err := ask(ctx, p, "reading the inbox", func(ctx context.Context) (hub.Page, error) {
		return p.hub.Inbox(ctx, hub.InboxQuery{Agent: p.me(), Since: id - 1})
	})
	if err != nil {
		return "", err
	}
	if len(page.Rows) == 0 {
		return "", wrong("the inbox of %s lacks message %d", p.me(), id)
	}
	if row, err := page.Rows[0].Decode(); err != nil || row.ID != id {
		return "", wrong("the inbox of %s shows message %d where %d was due", p.me(), row.ID, id)
	}
	if _, err := p.post(ctx, hub.PostInput{ToAgent: RoleA, ReplyTo: id, Body: "understood"}, note{Word: "answer"}); err != nil {
		return "", err
	}
	return fmt.Sprintf("message %d came to this agent, and is in its inbox", id), nil
}

// strangerTo: the third sees it neither in its poll, nor when it polls anew, nor
// by its id, in the thread, in a listing or in its inbox.
func (p *player) strangerTo(ctx context.Context, id hub.MessageID) (string, error) {
	if l, ok := p.said(RoleA, "secret"); ok {
		return "", wrong("the poll showed message %d, which is not for this agent", l.ID)
	}
	_, err := p.one(ctx, id)
	if err := refusedAs(err, hub.CodeMessageNotFound, fmt.Sprintf("reading message %d by its id, which is not for this agent,", id)); err != nil {
		return "", err
	}
	if _, _, err := p.readThread(ctx); err != nil { // it checks every row
		return "", err
	}
	for _, view := range []struct {
		what string
		read func(context.Context) (hub.Page, error)
	}{
		{"polling all channels", func(ctx context.Context) (hub.Page, error) {
			return p.hub.Events(ctx, hub.EventsQuery{Agent: p.me(), Since: id - 1, Limit: pageLimit, Peek: true})
		}},
		{"listing the thread", func(ctx context.Context) (hub.Page, error) {
			return p.hub.Messages(ctx, hub.MessagesQuery{ThreadID: p.cfg.Thread, Since: id - 1, Limit: pageLimit})
		}},
		{"listing the channel", func(ctx context.Context) (hub.Page, error) {
			return p.hub.Messages(ctx, hub.MessagesQuery{Channel: p.cfg.Channel, Since: id - 1, Limit: pageLimit})
		}},
		{"reading the inbox", func(ctx context.Context) (hub.Page, error) {
			return p.hub.Inbox(ctx, hub.InboxQuery{Agent: p.me(), Since: id - 1, Limit: pageLimit, Peek: true})
		}},
	} {
		page, err := ask(ctx, p, view.what, view.read)
		if err != nil {
			return "", err
		}
		for _, encoded := range page.Rows {
			if row, err := encoded.Decode(); err != nil || row.ID == id {
				return "", wrong("%s showed message %d, which is not for this agent", view.what, row.ID)
			}
		}
	}
	return fmt.Sprintf("message %d is hidden from this agent", id), nil
}

// one reads one message by its id.
func (p *player) one(ctx context.Context, id hub.MessageID) (hub.Message, error) {
	encoded, err := ask(ctx, p, "reading one message", func(ctx context.Context) (hub.EncodedMessage, error) {
		return p.hub.Message(ctx, id, p.me())
	})
	if err != nil {
		return hub.Message{}, err
	}
	row, err := encoded.Decode()
	if err != nil || row.ID != id {
		return row, wrong("message %d was answered with %s", id, encoded)
	}
	return row, nil
}
