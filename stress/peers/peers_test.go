package peers

import (
	"bufio"
	"net"
	"reflect"
	"strings"
	"testing"
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

// TestReportHasSpread: a report names each server with all figures, what it lacks, and those
// that were left out.
func TestReportHasSpread(t *testing.T) {
	p := &Peer{Name: "one", Lacks: "a fence", values: map[string][]float64{}}
	for _, f := range figures() {
		for _, v := range []float64{300, 1, 2} {
			p.add(f, v)
		}
	}
	text := (&Report{Options: DefaultOptions(), Peers: []*Peer{p}, Skipped: []string{"two is not installed"}}).String()
	for _, want := range append(figures(), "1.00 / 2.00 / 300", "it lacks: a fence", "SKIPPED: two") {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}
