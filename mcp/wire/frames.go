package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxFrame is the longest line, in bytes, that is taken from a client.
const maxFrame = 16 << 20

// BigMessage is the size, in bytes, from which on the memory of a message is given
// back to the system as soon as it can be.
const BigMessage = 1 << 20

// drain is how long the end of the input is held back for calls that are about to
// be answered, so that a file that is piped in gets its answers too. Calls that
// still wait after it are broken off.
const drain = 250 * time.Millisecond

// frameWriter writes whole messages, one a call, for several goroutines.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes one message.
func (f *frameWriter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.w.Write(p)
}

// Close leaves the stream open: it is the process's.
func (f *frameWriter) Close() error { return nil }

// noID is the id of the answer to a line that is no message: what cannot be read
// has none that can be trusted.
var noID = json.RawMessage("null")

// refuse answers what does not get to the SDK.
func (f *frameWriter) refuse(id json.RawMessage, code int64, message string) error {
	b, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &jsonrpc.Error{Code: code, Message: message}})
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
func filter(in io.Reader, out *frameWriter, x *exchange, limit int) io.ReadCloser {
	pr, pw := io.Pipe()
	go func() {
		s := frameFilter{pass: pw, out: out, exchange: x}
		err := s.run(in, limit)
		x.drained(drain)
		_ = pw.CloseWithError(err)
	}()
	return pr
}

// frameFilter is a filter at work.
type frameFilter struct {
	pass     io.Writer
	out      *frameWriter
	exchange *exchange
}

// run returns why it ended; nil at the end of in.
func (s *frameFilter) run(in io.Reader, limit int) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		var long bool
		var err error
		line, long, err = readLine(lines, line[:0], limit)
		if long {
			if werr := s.out.refuse(noID, jsonrpc.CodeInvalidRequest, "the message is too long"); werr != nil {
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
		if cap(line) > BigMessage {
			line = nil // one huge message is no reason to keep its memory
			debug.FreeOSMemory()
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
func (s *frameFilter) line(line []byte) error {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if !json.Valid(line) {
		return s.out.refuse(noID, jsonrpc.CodeParseError, "the line is no JSON")
	}
	if line[0] != '[' {
		return s.message(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return s.out.refuse(noID, jsonrpc.CodeInvalidRequest, "the batch holds no message")
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
func (s *frameFilter) message(message []byte) error {
	decoded, err := jsonrpc.DecodeMessage(message)
	if err != nil || message[0] != '{' {
		return s.out.refuse(noID, jsonrpc.CodeInvalidRequest, "this is no message of JSON-RPC 2.0")
	}
	if call, ok := decoded.(*jsonrpc.Request); ok {
		if pass, err := s.admit(call, message); !pass || err != nil {
			return err
		}
	}
	var whole bytes.Buffer // one line, whatever the batch looked like
	if err := json.Compact(&whole, message); err != nil {
		return err
	}
	whole.WriteByte('\n')
	_, err = s.pass.Write(whole.Bytes())
	return err
}

// admit tells the exchange of a request or a cancellation, and reports whether the
// SDK gets it. The SDK would answer a request under another id where it cannot hold
// the own one, and not at all where it has answered none of that id yet.
func (s *frameFilter) admit(call *jsonrpc.Request, message []byte) (bool, error) {
	var members map[string]json.RawMessage // by their exact names, unlike those of a struct
	if err := json.Unmarshal(message, &members); err != nil {
		return false, err
	}
	raw, has := members["id"]
	switch {
	case has && !ownID(raw):
		return false, s.out.refuse(raw, jsonrpc.CodeInvalidRequest, "the id of a request is a text, or a whole number of at most 2^53-1")
	case has && !s.exchange.begin(call.ID):
		return false, s.out.refuse(raw, jsonrpc.CodeInvalidRequest, "a request with this id is under way")
	case !has && call.Method == "notifications/cancelled":
		return s.cancel(call.Params)
	}
	return true, nil
}

// cancel tells the exchange of a cancellation. One of an id that no request can have
// is dropped: the SDK would take it for another's.
func (s *frameFilter) cancel(params []byte) (bool, error) {
	var of map[string]json.RawMessage
	if json.Unmarshal(params, &of) != nil || !ownID(of["requestId"]) {
		return false, nil
	}
	var id any
	if err := json.Unmarshal(of["requestId"], &id); err != nil {
		return false, err
	}
	wanted, err := jsonrpc.MakeID(id)
	if err != nil {
		return false, err
	}
	s.exchange.cancel(wanted)
	return true, nil
}
