package background

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// webSocket is a client's end of a WebSocket (RFC 6455) behind a Unix socket. One
// goroutine reads; any may write.
type webSocket struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // guards what is written
}

// Codes of frames.
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

// Parts of the first two bytes of a frame.
const (
	lastFrame = 0x80
	masked    = 0x80
	length16  = 126
	length64  = 127
)

// maxMessage bounds a message, in bytes: those of Codex repeat what tools have answered.
const maxMessage = 64 << 20

// dialWebSocket opens the connection.
func dialWebSocket(ctx context.Context, path string) (*webSocket, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	w := &webSocket{conn: conn, in: bufio.NewReader(conn)}
	if err := w.greet(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return w, nil
}

// greet asks for the protocol.
func (w *webSocket) greet() error {
	key := make([]byte, 16)
	_, _ = rand.Read(key)
	text := base64.StdEncoding.EncodeToString(key)
	_, err := fmt.Fprintf(w.conn, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n", text)
	if err != nil {
		return err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()                                  // it has none; the connection is the protocol's from here on
	const constant = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" // of the protocol
	sum := sha1.Sum([]byte(text + constant))
	if res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		return fmt.Errorf("the socket does not speak the protocol: it answers %s", res.Status)
	}
	return nil
}

// write sends a message.
func (w *webSocket) write(text []byte) error { return w.frame(opText, text) }

func (w *webSocket) frame(op byte, payload []byte) error {
	b := []byte{lastFrame | op}
	switch n := len(payload); {
	case n < length16:
		b = append(b, masked|byte(n))
	case n <= 0xffff:
		b = binary.BigEndian.AppendUint16(append(b, masked|length16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, masked|length64), uint64(n))
	}
	var mask [4]byte
	_, _ = rand.Read(mask[:])
	b = append(b, mask[:]...)
	for i, c := range payload {
		b = append(b, c^mask[i%len(mask)])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.conn.Write(b)
	return err
}

// read returns the next message.
func (w *webSocket) read() ([]byte, error) {
	var message []byte
	for {
		last, op, payload, err := w.next(maxMessage - len(message))
		switch {
		case err != nil:
			return nil, err
		case op == opClose:
			return nil, io.EOF
		case op == opPing:
			if err := w.frame(opPong, payload); err != nil {
				return nil, err
			}
		case op == opPong:
		default:
			message = append(message, payload...)
			if last {
				return message, nil
			}
		}
	}
}

// next reads a frame of at most so many bytes.
func (w *webSocket) next(most int) (last bool, op byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return false, 0, nil, err
	}
	n := uint64(head[1] &^ masked)
	switch n {
	case length16:
		var b [2]byte
		_, err = io.ReadFull(w.in, b[:])
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case length64:
		var b [8]byte
		_, err = io.ReadFull(w.in, b[:])
		n = binary.BigEndian.Uint64(b[:])
	}
	switch {
	case err != nil:
		return false, 0, nil, err
	case head[1]&masked != 0:
		return false, 0, nil, errors.New("a server masks no frames")
	case n > uint64(most):
		return false, 0, nil, errors.New("a message is too long")
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(w.in, payload)
	return head[0]&lastFrame != 0, head[0] & 0x0f, payload, err
}
