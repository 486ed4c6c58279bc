package term

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// Output remembers the first failure of a writer, so that a command whose
// answer was lost (a full disk, a closed pipe) does not end with success.
type Output struct {
	Writer io.Writer
	mu     sync.Mutex // guards err: a write that takes too long goes on in its goroutine
	err    error
}

func (o *Output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

// Failure returns the first error of a write, or nil.
func (o *Output) Failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// WriteGrace bounds the wait for a reader that does not read.
const WriteGrace = 2 * time.Second

// WriteInTime reports whether w has taken b in time. A full pipe with a live
// reader would otherwise block the process forever.
func WriteInTime(w io.Writer, b []byte) bool {
	done := make(chan error, 1)
	go func() {
		_, err := w.Write(b)
		done <- err
	}()
	grace := time.NewTimer(WriteGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return err == nil
	case <-grace.C:
		return false
	}
}

// PrintJSON writes one value as indented JSON and a line end.
func PrintJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

// PrintLine writes one value as one line of JSON.
func PrintLine(w io.Writer, v any) error { return encodeJSON(w, v, "") }

// encodeJSON writes a value, which may hold text of agents, so that a terminal may show it.
func encodeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(VisibleJSON(b.Bytes()))
	return err
}

// VisibleJSON escapes the hidden characters of a JSON text. They can be in strings
// only, so it stays the same text for every program that reads it.
func VisibleJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, peertext.Hidden) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		switch {
		case !peertext.Hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// Note writes a remark to stderr.
func (e *Env) Note(format string, args ...any) {
	fmt.Fprintln(e.Stderr, "hubcli: "+peertext.TerminalLine(fmt.Sprintf(format, args...)))
}

// PrintRows writes names and values as two columns.
func PrintRows(w io.Writer, rows [][2]string) error {
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%-13s %s\n", row[0], peertext.TerminalLine(row[1])); err != nil {
			return err
		}
	}
	return nil
}

// YesNo says a truth as people say it.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Some is a number of things.
func Some(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// OrNone is a text, or "none" for an empty one.
func OrNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// OrNobody is an agent, or words for none.
func OrNobody(id hub.AgentID) string {
	if id == "" {
		return "nobody named"
	}
	return string(id)
}
