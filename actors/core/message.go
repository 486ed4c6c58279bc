package core

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"hubcli/hub"
)

// Encode renders the row with its id and time. The store's format requires that
// the member truncated follows body; the order of the others is free.
func (d *MessageDraft) Encode(id hub.MessageID, ts hub.Time) StoredMessage {
	size := 448 + len(d.Body) + len(d.Body)/16 + len(d.Metadata)
	for i := range d.Attachments {
		size += len(d.Attachments[i].Content) + 128
	}
	b := make([]byte, 0, size)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"ts":`...)
	b = ts.AppendJSON(b)
	b = append(b, `,"from_agent":`...)
	b = hub.AppendJSONString(b, string(d.From))
	b = append(b, `,"to_agent":`...)
	b = appendNullable(b, string(d.To))
	b = append(b, `,"channel":`...)
	b = hub.AppendJSONString(b, string(d.Channel))
	b = append(b, `,"kind":`...)
	b = hub.AppendJSONString(b, string(d.Kind))
	b = append(b, `,"body":`...)
	start := len(b)
	b = hub.AppendJSONString(b, d.Body)
	b = append(b, `,"truncated":null`...)
	end := len(b)
	b = append(b, `,"attachments":`...)
	if len(d.Attachments) == 0 {
		b = append(b, '[', ']')
	} else {
		// Attachments hold valid JSON only: the edge has decoded them.
		enc, err := json.Marshal(d.Attachments)
		if err != nil {
			panic("core: attachments were not validated: " + err.Error())
		}
		b = append(b, enc...)
	}
	b = append(b, `,"reply_to":`...)
	b = appendNullableID(b, d.ReplyTo)
	b = append(b, `,"thread_id":`...)
	b = appendNullable(b, string(d.Thread))
	b = append(b, `,"metadata":`...)
	if len(d.Metadata) == 0 {
		b = append(b, '{', '}')
	} else {
		b = append(b, d.Metadata...)
	}
	b = append(b, `,"room_id":`...)
	b = appendNullable(b, string(d.Room))
	b = append(b, `,"parent_task_id":`...)
	b = appendNullableID(b, d.Parent)
	b = append(b, `,"authority":`...)
	b = hub.AppendJSONString(b, string(d.Authority))
	b = append(b, `,"assurance":`...)
	b = hub.AppendJSONString(b, string(d.Assurance))
	if d.User != "" {
		b = append(b, `,"local_user":`...)
		b = hub.AppendJSONString(b, d.User)
	}
	if d.Imported != nil {
		b = append(b, `,"imported":{"authority":`...)
		b = hub.AppendJSONString(b, string(d.Imported.Authority))
		b = append(b, `,"assurance":`...)
		b = hub.AppendJSONString(b, string(d.Imported.Assurance))
		b = append(b, '}')
	}
	b = append(b, '}')
	return StoredMessage{
		ID: id, TS: ts, From: d.From, To: d.To, Channel: d.Channel, Thread: d.Thread, Kind: d.Kind,
		BodyStart: start, BodyEnd: end, BodyChars: utf8.RuneCountInString(d.Body), Whole: d.Whole, Muted: d.Muted, JSON: b,
	}
}

// ReplyTo returns the id of the message to which this one replies, or 0.
func (m *StoredMessage) ReplyTo() hub.MessageID {
	if rest, plain := bytes.CutPrefix(m.JSON[m.BodyEnd:], []byte(`,"attachments":[],"reply_to":`)); plain {
		digits, _, _ := bytes.Cut(rest, []byte(","))
		id, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			return 0 // null
		}
		return hub.MessageID(id)
	}
	var row struct {
		ReplyTo *hub.MessageID `json:"reply_to"`
	}
	if json.Unmarshal(m.JSON, &row) != nil || row.ReplyTo == nil {
		return 0
	}
	return *row.ReplyTo
}

// Shorten returns the row's JSON with its body replaced by a notice that says
// how to fetch it. The stored bytes stay as they are.
func (m *StoredMessage) Shorten() hub.EncodedMessage {
	fetch := "GET /v1/messages/" + strconv.FormatInt(int64(m.ID), 10)
	if m.To != "" {
		fetch += "?agent_id=" + string(m.To)
	}
	return m.Shortened("["+strconv.Itoa(m.BodyChars)+" characters left out; fetch the whole message with "+fetch+"]", fetch)
}

// Shortened returns the row's JSON with a notice for its body, which names the call that fetches
// the whole. The stored bytes stay as they are.
func (m *StoredMessage) Shortened(notice, fetch string) hub.EncodedMessage {
	b := make([]byte, 0, len(m.JSON)-(m.BodyEnd-m.BodyStart)+len(notice)+len(fetch)+64)
	b = append(b, m.JSON[:m.BodyStart]...)
	b = hub.AppendJSONString(b, notice)
	b = append(b, `,"truncated":{"chars":`...)
	b = strconv.AppendInt(b, int64(m.BodyChars), 10)
	b = append(b, `,"fetch":`...)
	b = hub.AppendJSONString(b, fetch)
	b = append(b, '}')
	return append(b, m.JSON[m.BodyEnd:]...)
}

func appendNullable(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return hub.AppendJSONString(b, s)
}

func appendNullableID(b []byte, id hub.MessageID) []byte {
	if id == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(id), 10)
}
