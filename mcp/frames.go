package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxFrame is the longest line, in bytes, that is taken from a client.
const maxFrame = 16 << 20

// frameWriter writes whole messages, one a call, from several goroutines.
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
	_, err = f.Write(append(b, '\n'))
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
	go func() { _ = pw.CloseWithError(sift(in, pw, out, limit)) }()
	return pr
}

// sift returns why it ended; nil at the end of in.
func sift(in io.Reader, pass io.Writer, out *frameWriter, limit int) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		var long bool
		var err error
		line, long, err = readLine(lines, line[:0], limit)
		if long {
			if werr := out.refuse(jsonrpc.CodeInvalidRequest, "the message is too long"); werr != nil {
				return werr
			}
		} else if werr := siftLine(line, pass, out); werr != nil {
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

// siftLine passes the messages of a line on.
func siftLine(line []byte, pass io.Writer, out *frameWriter) error {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if !json.Valid(line) {
		return out.refuse(jsonrpc.CodeParseError, "the line is no JSON")
	}
	if line[0] != '[' {
		return siftMessage(line, pass, out)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return out.refuse(jsonrpc.CodeInvalidRequest, "the batch holds no message")
	}
	for _, message := range batch {
		if err := siftMessage(message, pass, out); err != nil {
			return err
		}
	}
	return nil
}

// siftMessage asks the SDK's own decoder, so that nothing gets past that its
// reader would end the session for.
func siftMessage(message []byte, pass io.Writer, out *frameWriter) error {
	if _, err := jsonrpc.DecodeMessage(message); err != nil || message[0] != '{' {
		return out.refuse(jsonrpc.CodeInvalidRequest, "this is no message of JSON-RPC 2.0")
	}
	var whole bytes.Buffer // one line, whatever the batch looked like
	if err := json.Compact(&whole, message); err != nil {
		return err
	}
	whole.WriteByte('\n')
	_, err := pass.Write(whole.Bytes())
	return err
}
