package cdp

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

// FuzzMessages: whatever an engine sends, each event has a name, comes once and in order, a call
// gets the answer with its number or the end of the connection, and the reader ends.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"result":{"Name":"ok"}}` + "\x00", `{"method":"a","params":{}}` + "\x00" + `{"method":"b"}` + "\x00", "no json\x00{\"id\":1,\"error\":{\"code\":1,\"message\":\"m\"}}\x00",
		"\x00\x00", `{"id":1`, `{"id":1e99}` + "\x00", `{"id":1,"result":[],"error":null}` + "\x00", `{"id":2,"id":1,"result":{}}` + "\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var events []string
		source := &later{data: sent, from: make(chan struct{})}
		c := New(io.NopCloser(source), nothing{}, func(e Event) { events = append(events, e.Method) })
		got := make(chan error, 1)
		started := make(chan struct{})
		go func() {
			id := make(chan answer, 1)
			_, err := c.ask(t.Context(), "", "Page.do", nil, id)
			close(started)
			if err != nil {
				got <- err
				return
			}
			select {
			case a := <-id:
				got <- a.read("Page.do", &json.RawMessage{})
			case <-c.closed:
				got <- ErrClosed
			}
		}()
		<-started
		close(source.from)
		<-c.Closed()
		<-got
		var want []string
		for part := range bytes.SplitSeq(sent[:bytes.LastIndexByte(sent, 0)+1], []byte{0}) {
			var m message
			if json.Unmarshal(part, &m) == nil && m.ID == 0 && m.Method != "" {
				want = append(want, m.Method)
			}
		}
		if len(events) != len(want) {
			t.Fatalf("events %q, want %q", events, want)
		}
		for i := range want {
			if events[i] != want[i] {
				t.Fatalf("events %q, want %q", events, want)
			}
		}
	})
}

// later gives its data when it may.
type later struct {
	data []byte
	from chan struct{}
}

func (l *later) Read(p []byte) (int, error) {
	<-l.from
	if len(l.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.data)
	l.data = l.data[n:]
	return n, nil
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }
