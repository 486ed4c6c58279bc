package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxFrame is the longest line, in bytes, that is taken from a client.
const maxFrame = 16 << 20

// drain is how long the end of the input is held back for calls that are about to
// be answered: who pipes a file in wants to read the answers too. Those that wait
// for something are broken off after it.
const drain = 250 * time.Millisecond

// frameWriter writes whole messages, one a call, for several goroutines.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer

	answers int           // messages that bear an id
	wrote   chan struct{} // rung for who waits for them; nil: nobody does
}

// Write writes one message.
func (f *frameWriter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.w.Write(p)
	// As the SDK writes an answer. It writes a question of its own so too, which is
	// so seldom that it does not matter.
	if bytes.HasPrefix(p, []byte(`{"jsonrpc":"2.0","id":`)) {
		f.answers++
		if f.wrote != nil {
			close(f.wrote)
			f.wrote = nil
		}
	}
	return n, err
}

// await waits until as many calls have been answered, or the time is over.
func (f *frameWriter) await(calls int, most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	for {
		f.mu.Lock()
		if f.answers >= calls {
			f.mu.Unlock()
			return
		}
		wrote := make(chan struct{})
		f.wrote = wrote
		f.mu.Unlock()
		select {
		case <-wrote:
		case <-t.C:
			return
		}
	}
}

// Close leaves the stream open: it is the process's.
func (f *frameWriter) Close() error { return nil }

// refuse answers a line that is no message. Its id is null, because a line that
// cannot be read has none that can be trusted.
func (f *frameWriter) refuse(code int64, message string) error {
	b, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, &jsonrpc.Error{Code: code, Message: message}})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = f.w.Write(append(b, '\n'))
	return err
}

// filter passes from in to the reader that it returns what the SDK takes for a
// message, one a line, and answers everything else on out itself: the SDK ends the
// session at the first line that it does not like. Batches are taken apart, so
// that they work in all versions of the protocol; the answers come one by one.
//
// The reader ends when in ends. The goroutine ends then, or when the reader is
// closed and the next line comes.
func filter(in io.Reader, out *frameWriter, limit int) io.ReadCloser {
	pr, pw := io.Pipe()
	go func() {
		s := sieve{pass: pw, out: out}
		err := s.run(in, limit)
		out.await(s.calls, drain)
		_ = pw.CloseWithError(err)
	}()
	return pr
}

// sieve is a filter at work.
type sieve struct {
	pass  io.Writer
	out   *frameWriter
	calls int // passed on, to be answered
}

// run returns why it ended; nil at the end of in.
func (s *sieve) run(in io.Reader, limit int) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		var long bool
		var err error
		line, long, err = readLine(lines, line[:0], limit)
		if long {
			if werr := s.out.refuse(jsonrpc.CodeInvalidRequest, "the message is too long"); werr != nil {
				return werr
			}
		} else if werr := s.line(line); werr != nil {
			return werr
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if cap(line) > 1<<20 {
			line = nil // one huge message is no reason to keep its memory
		}
	}
}

// readLine appends a line without its end to buf. Of a line that is longer than
// limit it keeps nothing and reports long.
func readLine(r *bufio.Reader, buf []byte, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !long && len(buf)+len(part) > limit+1 {
			long = true
		}
		if long {
			buf = buf[:0]
		} else {
			buf = append(buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, long, err
		}
	}
}

// line passes the messages of a line on.
func (s *sieve) line(line []byte) error {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if !json.Valid(line) {
		return s.out.refuse(jsonrpc.CodeParseError, "the line is no JSON")
	}
	if line[0] != '[' {
		return s.message(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return s.out.refuse(jsonrpc.CodeInvalidRequest, "the batch holds no message")
	}
	for _, message := range batch {
		if err := s.message(message); err != nil {
			return err
		}
	}
	return nil
}

// message asks the SDK's own decoder, so that nothing gets past that its
// reader would end the session for.
func (s *sieve) message(message []byte) error {
	decoded, err := jsonrpc.DecodeMessage(message)
	if err != nil || message[0] != '{' {
		return s.out.refuse(jsonrpc.CodeInvalidRequest, "this is no message of JSON-RPC 2.0")
	}
	var whole bytes.Buffer // one line, whatever the batch looked like
	if err := json.Compact(&whole, message); err != nil {
		return err
	}
	whole.WriteByte('\n')
	if call, ok := decoded.(*jsonrpc.Request); ok && call.IsCall() {
		s.calls++
	}
	_, err = s.pass.Write(whole.Bytes())
	return err
}
