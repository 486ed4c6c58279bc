package cdp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hubcli/internal/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is the far end of a connection.
type engine struct {
	in  *bufio.Reader
	out io.WriteCloser
}

func dial(t *testing.T, events func(Event)) (*Conn, *engine) {
	t.Helper()
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	c := New(ourIn, ourOut, events)
	t.Cleanup(func() {
		c.Close()
		<-c.Closed()
	})
	return c, &engine{bufio.NewReader(theirIn), theirOut}
}

func (e *engine) asked(t *testing.T) request {
	t.Helper()
	text, err := e.in.ReadBytes(0)
	require.NoError(t, err)
	var r request
	require.NoError(t, json.Unmarshal(text[:len(text)-1], &r))
	return r
}

func (e *engine) says(format string, args ...any) {
	_, _ = io.WriteString(e.out, fmt.Sprintf(format, args...)+"\x00") // a connection that is closed shows in the call
}

func call(c *Conn, ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		var got struct{ Name string }
		err := c.Call(ctx, "s", "Page.do", map[string]int{"x": 1}, &got)
		if err == nil && got.Name != "ok" {
			err = fmt.Errorf("the result is %+v", got)
		}
		done <- err
	}()
	return done
}

func TestCallsAndEvents(t *testing.T) {
	events := make(chan Event, 1)
	c, e := dial(t, func(ev Event) { events <- ev })
	first, second := call(c, t.Context()), call(c, t.Context())
	one, two := e.asked(t), e.asked(t)
	if one.Session != "s" || one.Method != "Page.do" || one.ID == two.ID {
		t.Errorf("asked were %+v and %+v", one, two)
	}
	e.says(`{"method":"Page.happened","sessionId":"s","params":{"a":"b"}}`)
	e.says(`{"id":%d,"result":{"Name":"ok"}}`, two.ID)
	e.says(`{"id":12345,"result":{}}`)
	e.says(`no json`)
	e.says(`{"id":%d,"error":{"code":-32000,"message":"No node"}}`, one.ID)
	a, b := <-first, <-second
	if a == nil {
		a, b = b, a
	}
	var failed *Failure
	if b != nil || !errors.As(a, &failed) || failed.Message != "No node" || failed.Method != "Page.do" {
		t.Errorf("the calls end with %v and %v", a, b)
	}
	ev := <-events
	var params struct{ A string }
	if ev.Decode(&params); ev.Session != "s" || ev.Method != "Page.happened" || params.A != "b" {
		t.Errorf("the event is %+v", ev)
	}
}

// TestTooBigFailsItsCallAlone: an answer beyond the bound is read past.
func TestTooBigFailsItsCallAlone(t *testing.T) {
	c, e := dial(t, nil)
	big := call(c, t.Context())
	asked := e.asked(t)
	go func() {
		_, _ = fmt.Fprintf(e.out, `{"id":%d,"result":{"Name":"`, asked.ID)
		chunk := strings.Repeat("x", 1<<20)
		for range MaxMessage>>20 + 1 {
			_, _ = io.WriteString(e.out, chunk)
		}
		e.says(`"}}`)
	}()
	if err := <-big; !errors.Is(err, ErrTooBig) {
		t.Errorf("the call ends with %v", err)
	}
	small := call(c, t.Context())
	e.says(`{"id":%d,"result":{"Name":"ok"}}`, e.asked(t).ID)
	require.NoError(t, <-small)
}

// TestCallEnds with its context, and with the engine.
func TestCallEnds(t *testing.T) {
	c, e := dial(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := call(c, ctx)
	e.asked(t)
	cancel(errors.New("enough"))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("the call ends with %v", err)
	}
	left := call(c, t.Context())
	e.asked(t)
	require.NoError(t, e.out.Close())
	if err := <-left; !errors.Is(err, ErrClosed) {
		t.Errorf("without an engine the call ends with %v", err)
	}
	if err := <-call(c, t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a later call ends with %v", err)
	}
}

// TestSendNeverWaits: an engine that reads nothing loses its connection.
func TestSendNeverWaits(t *testing.T) {
	c, _ := dial(t, nil)
	for range maxQueued + 2 {
		c.Send("", "Page.do", nil)
	}
	<-c.Closed()
}
