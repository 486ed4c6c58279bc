package capsules

import (
	"errors"

	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

// messageLines writes the messages of a room by their numbers: those of its channel and the
// direct ones, which other indexes hold.
func (e *exporter) messageLines(at int) error {
	room := &e.chosen[at]
	if err := e.out.Section("messages/" + string(refOf("r", int64(at)+1)) + ".ndjson"); err != nil {
		return err
	}
	directs, failed := e.directs[room.RoomID], error(nil)
	channel := core.Scope{Kind: core.ScopeChannel, Name: string(room.RoomID.Channel())}
	err := e.rows.Messages(channel, 0, hub.MaxMessageID, false, func(m *core.StoredMessage) bool {
		for failed == nil && len(directs) > 0 && directs[0] < m.ID {
			failed = e.directLine(directs[0], room)
			directs = directs[1:]
		}
		if failed == nil {
			failed = e.message(m, room)
		}
		return failed == nil
	})
	for err == nil && failed == nil && len(directs) > 0 {
		failed = e.directLine(directs[0], room)
		directs = directs[1:]
	}
	return errors.Join(err, failed)
}

func (e *exporter) directLine(id hub.MessageID, room *hub.Room) error {
	m, err := e.rows.Message(id)
	if err != nil {
		return err
	}
	return e.message(&m, room)
}

// message writes the line of a message.
func (e *exporter) message(m *core.StoredMessage, room *hub.Room) error {
	row, err := m.JSON.Decode()
	number, ok := e.number(m.ID)
	if err != nil || !ok {
		return hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read").With("message_id", m.ID)
	}
	line := &capsule.Message{
		ID: number, TS: row.TS, From: e.texts.agentName(row.FromAgent), To: e.texts.agentName(hub.Value(row.ToAgent)),
		Kind: row.Kind, Body: e.texts.text(row.Body, hub.DefaultLimits().MaxBodyChars), ReplyTo: e.optional(row.ReplyTo),
		ParentTask: e.optional(row.ParentTaskID), Authority: row.Authority, Assurance: row.Assurance,
	}
	if from := row.Imported; from != nil {
		line.Authority, line.Assurance = from.Authority, from.Assurance
	}
	if line.To != "" && row.Channel != hub.DirectChannel {
		line.Channel = hub.ChannelName(e.texts.text(string(row.Channel), hub.MaxNameChars))
	}
	if line.Thread, err = e.threads.of(hub.Value(row.ThreadID)); err != nil {
		return err
	}
	if line.Metadata, err = e.texts.metadata(row.Metadata); err != nil {
		return err
	}
	for i := range row.Attachments {
		a, err := e.texts.attachment(row.Attachments[i])
		if err != nil {
			return err
		}
		line.Attachments = append(line.Attachments, a)
	}
	return e.line(line)
}
