package cli

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

	"hubcli/internal/peertext"
)

// output remembers the first failure of a writer, so that a command whose
// answer was lost (a full disk, a closed pipe) does not end with success.
type output struct {
	w   io.Writer
	mu  sync.Mutex // guards err: a write that takes too long goes on in its goroutine
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// writeGrace bounds the wait for a reader that does not read.
const writeGrace = 2 * time.Second

// writeInTime reports whether w has taken b in time. A full pipe with a live
// reader would otherwise block the process forever.
func writeInTime(w io.Writer, b []byte) bool {
	done := make(chan error, 1)
	go func() {
		_, err := w.Write(b)
		done <- err
	}()
	grace := time.NewTimer(writeGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return err == nil
	case <-grace.C:
		return false
	}
}

// printJSON writes one value as indented JSON and a line end.
func printJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

// printLine writes one value as one line of JSON.
func printLine(w io.Writer, v any) error { return encodeJSON(w, v, "") }

// encodeJSON writes a value, which may hold text of agents, so that a terminal may show it.
func encodeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(visibleJSON(b.Bytes()))
	return err
}

// visibleJSON escapes the hidden characters of a JSON text. They can be in strings
// only, so it stays the same text for every program that reads it.
func visibleJSON(text []byte) []byte {
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

// note writes a remark to stderr.
func (e *Env) note(format string, args ...any) {
	fmt.Fprintln(e.Stderr, "hubcli: "+peertext.TerminalLine(fmt.Sprintf(format, args...)))
}

// printRows writes names and values as two columns.
func printRows(w io.Writer, rows [][2]string) error {
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%-13s %s\n", row[0], peertext.TerminalLine(row[1])); err != nil {
			return err
		}
	}
	return nil
}
