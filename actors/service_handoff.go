package actors

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
)

// HandoffTask offers a task to another agent; see hub.Runs.
func (h *Hub) HandoffTask(ctx context.Context, id hub.TaskID, in hub.HandoffInput) (hub.Outcome[hub.Task], error) {
	c := core.HandoffCommand{By: taskActor(ctx, in.AgentID), In: in}
	var err error
	if c.Asks, err = h.handedOn(id, in.ToAgent); err != nil {
		return hub.Outcome[hub.Task]{}, err
	}
	out, err := h.changeTask(ctx, in.AgentID, len(in.Note), func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return t.Handoff(id, c, now)
	})
	return h.refuseEnded(id, c.By, out, err)
}

// AcceptTask takes an offered task over; see hub.Runs.
func (h *Hub) AcceptTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return h.endOffer(ctx, id, in, (*core.Tasks).Accept)
}

// DeclineTask takes an offer back; see hub.Runs.
func (h *Hub) DeclineTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return h.endOffer(ctx, id, in, (*core.Tasks).Decline)
}

func (h *Hub) endOffer(ctx context.Context, id hub.TaskID, in hub.OfferInput, decide func(*core.Tasks, hub.TaskID, core.OfferCommand, core.Now) (core.Decision[hub.Task], error)) (hub.Outcome[hub.Task], error) {
	c := core.OfferCommand{By: taskActor(ctx, in.AgentID), Note: in.Note}
	out, err := h.changeTask(ctx, in.AgentID, len(in.Note), func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return decide(t, id, c, now)
	})
	return h.refuseEnded(id, c.By, out, err)
}

// handedOn returns the text and attachments of a direct task for an agent to which the
// opening message was not addressed: the attachments of one message or more.
func (h *Hub) handedOn(id hub.TaskID, to hub.AgentID) ([][]hub.Attachment, error) {
	m, err := h.view.Message(id)
	if err != nil || hub.Visible(to, m.From, m.To) {
		if errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}) {
			err = nil // the owner refuses the id
		}
		return nil, err
	}
	row, err := m.JSON.Decode()
	if err != nil {
		return nil, hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read")
	}
	info, limits := &h.options.Info, hub.DefaultLimits()
	limits.MaxAttachmentChars = cmp.Or(info.MaxAttachmentChars, limits.MaxAttachmentChars)
	limits.MaxAttachments = cmp.Or(info.MaxAttachments, limits.MaxAttachments)
	return packAsks(row.Body, row.Attachments, limits), nil
}

// packAsks makes attachments of a body, puts them before the given ones, and deals all
// to messages. Each message keeps the limits of posted messages if the given attachments
// do.
func packAsks(body string, attachments []hub.Attachment, limits hub.Limits) [][]hub.Attachment {
	var all []hub.Attachment
	for body != "" {
		n := fitting(body, limits.MaxAttachmentChars)
		all = append(all, hub.Attachment{Type: hub.AttachmentText, Content: core.AppendJSONString(nil, body[:n])})
		body = body[n:]
	}
	return slices.Collect(slices.Chunk(append(all, attachments...), max(1, limits.MaxAttachments)))
}

// fitting returns how many bytes of text, whole characters and at least one, have
// a JSON string of at most chars characters.
func fitting(text string, chars int) int {
	left, quoted := chars-len(`""`), make([]byte, 0, 16)
	for i, r := range text {
		quoted = core.AppendJSONString(quoted[:0], string(r))
		if left -= utf8.RuneCount(quoted) - len(`""`); left < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}
