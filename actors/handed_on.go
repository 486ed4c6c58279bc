package actors

import (
	"cmp"
	"errors"
	"slices"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
)

// handedOn returns what a direct task asks for, as the attachments of one message
// or more, for an agent that the message which opened it was not addressed to.
func (h *Hub) handedOn(id hub.TaskID, to hub.AgentID) ([][]hub.Attachment, error) {
	m, err := h.view.Message(id)
	if err != nil || hub.Visible(to, m.From, m.To) {
		if errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}) {
			err = nil // the owner refuses what is no task
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

// packAsks makes attachments of a body, in order before its own, and deals them
// to messages: each keeps the limits that hold for messages that are posted, as
// long as the attachments given do.
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
