package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// maxAnswer bounds the body of an answer; a page of 1,000 rows is far below it.
const maxAnswer = 64 << 20

// ErrAnswer says that the server answered something that is no HTTP/1.1 answer
// as this package reads them.
var ErrAnswer = errors.New("not an answer")

// Conn is one keep-alive connection.
type Conn struct {
	conn net.Conn
	r    *bufio.Reader
	body []byte
}

// Dial connects to addr, host and port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{conn: conn, r: bufio.NewReaderSize(conn, 2048)}, nil
}

// Close ends the connection; a Do that waits on it returns with an error.
func (c *Conn) Close() error { return c.conn.Close() }

// SetDeadline bounds the calls of Do that follow.
func (c *Conn) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// Do sends the bytes of one request and reads its answer. The body is good until
// the next call. After an error the connection is of no further use.
func (c *Conn) Do(request []byte) (status int, body []byte, err error) {
	if err := c.Send(request); err != nil {
		return 0, nil, err
	}
	return c.Receive()
}

// Within is Do with an answer that must be there within d.
func (c *Conn) Within(d time.Duration, request []byte) (status int, body []byte, err error) {
	if err := c.SetDeadline(time.Now().Add(d)); err != nil {
		return 0, nil, err
	}
	return c.Do(request)
}

// Send is the first half of Do.
func (c *Conn) Send(request []byte) error {
	_, err := c.conn.Write(request)
	return err
}

// Receive is the second half of Do.
func (c *Conn) Receive() (status int, body []byte, err error) {
	line, err := c.line()
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, nil, fmt.Errorf("%w: begins with %q", ErrAnswer, line)
	}
	status, err = strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, nil, fmt.Errorf("%w: status line %q", ErrAnswer, line)
	}
	length, chunked, err := c.header()
	if err != nil {
		return 0, nil, err
	}
	c.body = c.body[:0]
	switch {
	case chunked:
		err = c.readChunks()
	case length >= 0:
		err = c.readBody(length)
	default:
		err = fmt.Errorf("%w: neither Content-Length nor chunked", ErrAnswer)
	}
	return status, c.body, err
}

// line reads one line without its end.
func (c *Conn) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

var (
	contentLength    = []byte("content-length")
	transferEncoding = []byte("transfer-encoding")
)

// header reads up to the empty line. length is -1 if it was not given.
func (c *Conn) header() (length int, chunked bool, err error) {
	length = -1
	for {
		line, err := c.line()
		if err != nil {
			return 0, false, err
		}
		if len(line) == 0 {
			return length, chunked, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return 0, false, fmt.Errorf("%w: header line %q", ErrAnswer, line)
		}
		switch {
		case bytes.EqualFold(name, contentLength):
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || length < 0 || length > maxAnswer {
				return 0, false, fmt.Errorf("%w: Content-Length %q", ErrAnswer, value)
			}
		case bytes.EqualFold(name, transferEncoding):
			chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
		}
	}
}

// readBody appends n bytes to the body.
func (c *Conn) readBody(n int) error {
	begin := len(c.body)
	if begin+n > maxAnswer {
		return fmt.Errorf("%w: body above %d bytes", ErrAnswer, maxAnswer)
	}
	if need := begin + n; cap(c.body) < need {
		grown := make([]byte, need, need+need/4)
		copy(grown, c.body)
		c.body = grown
	}
	c.body = c.body[:begin+n]
	_, err := io.ReadFull(c.r, c.body[begin:])
	return err
}

func (c *Conn) readChunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return fmt.Errorf("%w: chunk size %q", ErrAnswer, line)
		}
		if err := c.readBody(int(size)); err != nil {
			return err
		}
		if _, err := c.line(); err != nil { // the chunk's end; after the last, the trailer's
			return err
		}
		if size == 0 {
			return nil
		}
	}
}
