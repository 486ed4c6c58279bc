package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

// answering is a connection whose other end has sent text, and takes what is written to it.
func answering(t *testing.T, text string) net.Conn {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close(); there.Close() })
	go func() {
		_, _ = there.Write([]byte(text))
		there.Close()
	}()
	return here
}

func TestRedisAnswers(t *testing.T) {
	for text, want := range map[string]any{
		"+OK\r\n":                 "OK",
		":7\r\n":                  int64(7),
		"$-1\r\n":                 nil,
		"*-1\r\n":                 nil,
		"$5\r\na\r\nbc\r\n":       "a\r\nbc",
		"*2\r\n$1\r\nx\r\n:3\r\n": []any{"x", int64(3)},
	} {
		c := answering(t, text)
		got, err := (&resp{conn: c, in: bufio.NewReader(c)}).receive()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v %v, want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{"-ERR no\r\n", "\r\n", "?\r\n", ":x\r\n", "$99999999\r\n", "*1\r\n", "$5\r\nab"} {
		c := answering(t, text)
		if got, err := (&resp{conn: c, in: bufio.NewReader(c)}).receive(); err == nil {
			t.Errorf("%q: %#v and no error", text, got)
		}
	}
}

func TestNATSMessages(t *testing.T) {
	for text, want := range map[string]string{
		"INFO {}\r\n+OK\r\nMSG a 1 5\r\nhello\r\n": "hello",
		"MSG a 1 reply 0\r\n\r\n":                  "",
	} {
		c := answering(t, text)
		got, err := (&natsConn{conn: c, in: bufio.NewReader(c)}).message()
		if err != nil || string(got) != want {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"-ERR 'no'\r\n", "MSG a 1 -5\r\n", "MSG a 1 99999999\r\n", "MSG a 1 x\r\n", "MSG a 1 5\r\nhel", ""} {
		c := answering(t, text)
		if got, err := (&natsConn{conn: c, in: bufio.NewReader(c)}).message(); err == nil {
			t.Errorf("%q: %q and no error", text, got)
		}
	}
}

// TestReportHasSpread: a report names each server with its figures, what it lacks, and those
// that were left out, for people and for programs.
func TestReportHasSpread(t *testing.T) {
	p := &Peer{Name: "one", Lacks: "a fence"}
	for _, v := range []float64{300, 1, 2} {
		p.add("wake", "ms", v)
	}
	p.add("start", "ms", 7)
	r := &Report{Peers: []*Peer{p}, Skipped: []string{"two is not installed"}}
	for _, want := range []string{"one\n", "2 ms (1 to 300)\n", "7 ms\n", "it lacks: a fence", "SKIPPED: two"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, r)
		}
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `{"name":"wake","unit":"ms","values":[300,1,2]}`) {
		t.Errorf("%s %v", b, err)
	}
}

// TestEmptyPollIsNoWake: the answer of a poll whose time is over is not taken for a message.
func TestEmptyPollIsNoWake(t *testing.T) {
	for page, want := range map[string]int{`{"ok":true,"result":[]}`: 0, `{"ok":true,"result":[{"id":3},{"id":9}]}`: 2} {
		if rows, last, err := rowsOf([]byte(page)); err != nil || rows != want || want == 2 && last != 9 {
			t.Errorf("%s: %d rows, the last %d, %v", page, rows, last, err)
		}
	}
	if _, _, err := rowsOf([]byte("no page")); err == nil {
		t.Error("what is no page is one")
	}
}

// TestServerThatEndsIsNotWaitedFor: a server that refuses its settings is told of at once.
func TestServerThatEndsIsNotWaitedFor(t *testing.T) {
	program, err := exec.LookPath("false")
	if err != nil {
		t.Skip("needs a program false")
	}
	began := time.Now()
	var s server
	err = s.run(t.Context(), program, func(string) ([]string, error) { return nil, nil }, func(context.Context) error { return errors.New("not yet") })
	if err == nil || !strings.Contains(err.Error(), "ended by itself") || time.Since(began) > readyWait/2 {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
