package view

import (
	"encoding/json"

	"hubcli/actors/core"
)

// ThreadParts sums up the threads of messages that an import stages. Its memory grows with
// the number of threads.
type ThreadParts struct {
	parts map[string]*ThreadPart // by row key, with the table as first byte
}

// NewThreadParts returns the sums of no message.
func NewThreadParts() *ThreadParts { return &ThreadParts{parts: map[string]*ThreadPart{}} }

// Add counts a message. The messages come in the order of their ids.
func (t *ThreadParts) Add(m *core.StoredMessage) {
	if m.Thread == "" {
		return
	}
	for _, k := range partsOf(m) {
		part := t.parts[k]
		if part == nil {
			part = &ThreadPart{}
			t.parts[k] = part
		}
		part.Add(m)
	}
}

// Rows gives the rows of the sums.
func (t *ThreadParts) Rows(rows core.RowSink) {
	for k, part := range t.parts {
		value, err := json.Marshal(part)
		if err != nil {
			panic("view: a thread cannot be encoded: " + err.Error())
		}
		rows.Put(core.Table(k[0]), []byte(k[1:]), value)
	}
}

// partsOf returns the keys of the parts of its thread that a message belongs to.
func partsOf(m *core.StoredMessage) []string {
	if m.To == "" {
		return []string{string(byte(core.TableThread)) + string(m.Thread)}
	}
	direct := string(byte(core.TableThreadAgent))
	keys := []string{direct + string(directPartKey(m.To, m.Thread))}
	if m.From != m.To {
		keys = append(keys, direct+string(directPartKey(m.From, m.Thread)))
	}
	return keys
}
