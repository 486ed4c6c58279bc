package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

// peer is the other side of a connection, as a test plays it.
type peer struct {
	t    *testing.T
	conn *Conn
	in   *bufio.Reader // what the client has sent
	out  *os.File
}

func open(t *testing.T, h Handler) *peer {
	t.Helper()
	theirIn, ourOut, err := os.Pipe()
	require.NoError(t, err)
	ourIn, theirOut, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, f := range []*os.File{theirIn, ourOut, ourIn, theirOut} {
			_ = f.Close()
		}
	})
	return &peer{t, Open(ourIn, ourOut, h), bufio.NewReader(theirIn), theirOut}
}

// say writes a line as the harness.
func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	_, err := fmt.Fprintf(p.out, format+"\n", args...)
	require.NoError(p.t, err)
}

// hears returns the next message of the client.
func (p *peer) hears() map[string]any {
	p.t.Helper()
	line, err := p.in.ReadBytes('\n')
	require.NoError(p.t, err)
	var m map[string]any
	require.NoError(p.t, json.Unmarshal(line, &m))
	return m
}

// ends waits for the end of the connection and returns why it has ended.
func (p *peer) ends() error {
	p.t.Helper()
	select {
	case <-p.conn.Ended():
		return p.conn.Err()
	case <-time.After(30 * time.Second):
		p.t.Fatal("the connection does not end")
		return nil
	}
}

func TestSessionFromBeginningToEnd(t *testing.T) {
	var told []Update
	p := open(t, Handler{Update: func(u Update) { told = append(told, u) }})
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			info, err := p.conn.Initialize(t.Context(), "1")
			if err != nil || info.Name != "fake" || !info.LoadsSessions {
				return fmt.Errorf("initialize: %+v, %w", info, err)
			}
			session, err := p.conn.NewSession(t.Context(), "/work", nil)
			if err != nil {
				return err
			}
			why, err := p.conn.Prompt(t.Context(), session, "go")
			if err == nil && why != EndOfTurn {
				err = fmt.Errorf("it ends by %q", why)
			}
			return err
		}()
	}()
	if m := p.hears(); m["method"] != "initialize" || m["id"] != 1.0 {
		t.Errorf("first: %v", m)
	}
	p.say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"fake"}}}`)
	if m := p.hears(); fmt.Sprint(m["params"]) != "map[cwd:/work mcpServers:[]]" {
		t.Errorf("second: %v", m)
	}
	p.say(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`)
	if m := p.hears(); fmt.Sprint(m["params"]) != "map[prompt:[map[text:go type:text]] sessionId:s]" {
		t.Errorf("third: %v", m)
	}
	p.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}}}`)
	p.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"Write f","kind":"edit","status":"pending","locations":[{"path":"/f"}],"content":[{"type":"diff","path":"/f","newText":"x"}]}}}`)
	p.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"of_tomorrow","content":7}}}`)
	p.say(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
	require.NoError(t, <-done)
	if len(told) != 3 || told[0].Text != "hello" || told[1].Tool.Paths[0] != "/f" || told[1].Tool.Diffs[0].New != "x" || told[2].Kind != "of_tomorrow" {
		t.Errorf("told: %+v", told)
	}
	require.NoError(t, p.out.Close())
	if err := p.ends(); !errors.Is(err, ErrEnded) {
		t.Errorf("it ends by %v", err)
	}
}

func TestQuestionsAreAnswered(t *testing.T) {
	p := open(t, Handler{Ask: func(_ context.Context, q Question) (string, bool) {
		return q.Choice(AllowOnce)
	}})
	ask := `{"jsonrpc":"2.0","id":%q,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1","title":"Write"},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},%s{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	p.say(ask, "a", `{"optionId":"yes","name":"Yes","kind":"allow_once"},`)
	if m := p.hears(); fmt.Sprint(m) != "map[id:a jsonrpc:2.0 result:map[outcome:map[optionId:yes outcome:selected]]]" {
		t.Errorf("the answer is %v", m)
	}
	p.say(ask, "b", "")
	if m := p.hears(); fmt.Sprint(m) != "map[id:b jsonrpc:2.0 result:map[outcome:map[outcome:cancelled]]]" {
		t.Errorf("the answer is %v", m)
	}
}

// TestQuestionsAreBounded: a harness that asks without end gets refusals, and its earlier
// questions stay open.
func TestQuestionsAreBounded(t *testing.T) {
	p := open(t, Handler{Ask: func(ctx context.Context, _ Question) (string, bool) {
		<-ctx.Done()
		return "", false
	}})
	const more = 5
	for i := range maxAsked + more {
		p.say(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{}}`, i)
	}
	for range more {
		if m := p.hears(); m["error"] == nil {
			t.Errorf("not refused: %v", m)
		}
	}
	require.NoError(t, p.out.Close())
	_ = p.ends()
	p.conn.work.Wait()
}

func TestUnknownMethodsAreRefused(t *testing.T) {
	p := open(t, Handler{})
	p.say(`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}`)
	if m := p.hears(); m["id"] != 7.0 || fmt.Sprint(m["error"]) != `map[code:-32601 message:this client has no method "fs/read_text_file"]` {
		t.Errorf("the answer is %v", m)
	}
}

// TestHostilePeer: whatever a harness writes, the connection goes on or ends with a reason.
func TestHostilePeer(t *testing.T) {
	var strays int
	p := open(t, Handler{Stray: func(string) { strays++ }})
	lines := []string{
		"not JSON", `{"half`, "[]", "{}", `{"id":{}}`, `{"id":99,"result":1}`, `{"id":"x","result":1}`, `{"id":[1],"method":"x"}`,
		`{"method":"session/update","params":7}`, `{"id":` + strings.Repeat("9", maxID+1) + `,"method":"x"}`,
	}
	p.say("%s", strings.Join(lines, "\n"))
	p.say("")
	p.say(`{"method":"session/update","params":{}}`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if m := p.hears(); m["id"] != 1.0 {
		t.Errorf("the answer is %v", m)
	}
	if strays != len(lines) {
		t.Errorf("%d of %d lines count as no messages", strays, len(lines))
	}
	p.say("%s", strings.Repeat("x\n", maxStray))
	if err := p.ends(); err == nil || !strings.Contains(err.Error(), "no messages") {
		t.Errorf("it ends by %v", err)
	}
}

func TestLineWithoutEnd(t *testing.T) {
	p := open(t, Handler{})
	go func() {
		part := []byte(strings.Repeat("x", 1<<20))
		for range MaxLine>>20 + 1 {
			if _, err := p.out.Write(part); err != nil {
				return
			}
		}
	}()
	if err := p.ends(); err == nil || !strings.Contains(err.Error(), "a line of more than") {
		t.Errorf("it ends by %v", err)
	}
}

// TestCallEndsWithTheConnection: a call does not outlive a harness that dies, and does not
// wait longer than its context for one that hangs.
func TestCallEndsWithTheConnection(t *testing.T) {
	p := open(t, Handler{})
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, late)
	defer cancel()
	if _, err := p.conn.Initialize(ctx, "1"); !errors.Is(err, late) {
		t.Errorf("hangs: %v", err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := p.conn.Prompt(t.Context(), "s", "go")
		failed <- err
	}()
	p.hears()
	p.hears()
	require.NoError(t, p.out.Close())
	if err := <-failed; !errors.Is(err, ErrEnded) {
		t.Errorf("died: %v", err)
	}
	if _, err := p.conn.Prompt(t.Context(), "s", "go"); !errors.Is(err, ErrEnded) {
		t.Errorf("afterward: %v", err)
	}
}

func TestRefusalOfTheHarness(t *testing.T) {
	p := open(t, Handler{})
	go func() {
		p.hears()
		p.say(`{"id":1,"error":{"code":-32000,"message":"Authentication required","data":{"details":"log in"}}}`)
	}()
	_, err := p.conn.NewSession(t.Context(), "/", nil)
	var refused *Error
	if !errors.As(err, &refused) || !refused.NeedsLogin() || refused.Message != "Authentication required: log in" {
		t.Errorf("%v", err)
	}
}

func TestOtherVersion(t *testing.T) {
	p := open(t, Handler{})
	go func() {
		p.hears()
		p.say(`{"id":1,"result":{"protocolVersion":2}}`)
	}()
	if _, err := p.conn.Initialize(t.Context(), "1"); err == nil || !strings.Contains(err.Error(), "speaks version 2") {
		t.Errorf("%v", err)
	}
}

// FuzzConn feeds a connection anything that a harness may write.
func FuzzConn(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"options":[{}],"toolCall":{"content":[{}]}}}`)
	f.Add(`{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[{}]}}}`)
	f.Add(`{"id":1,"error":{"data":[]}}`)
	f.Fuzz(func(_ *testing.T, said string) {
		c := Open(strings.NewReader(said), nowhere{}, Handler{
			Update: func(Update) {}, Ask: func(context.Context, Question) (string, bool) { return "x", true },
		})
		<-c.Ended()
		c.work.Wait()
	})
}

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }

var _ io.WriteCloser = nowhere{}
