package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// nats is a NATS server whose JetStream files are synced before each answer.
type nats struct {
	server
	path, version string
	connected     int // agents so far
}

// findNATS looks for the server at path, or where the system has programs.
func findNATS(ctx context.Context, path string) (*nats, error) {
	if path == "" {
		var err error
		if path, err = exec.LookPath("nats-server"); err != nil {
			return nil, errors.New("nats-server is not installed (Debian: nats-server)")
		}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return nil, err
	}
	n := &nats{path: path, version: strings.TrimPrefix(strings.TrimSpace(string(out)), "nats-server: v")}
	// An older server takes the setting for a time and does not start.
	if strings.HasPrefix(n.version, "2.") {
		minor, _, _ := strings.Cut(n.version[2:], ".")
		if m, err := strconv.Atoi(minor); err == nil && m < 10 {
			return nil, fmt.Errorf("nats-server %s cannot sync before it answers; name one from 2.10 on with --nats", n.version)
		}
	}
	return n, nil
}

func (n *nats) describe() (name, lacks string) {
	return "NATS JetStream " + n.version + ", sync always",
		"the server knows no sender and no threads; a key has no queue of waiters; nothing wakes an agent that is not connected"
}

const natsConfig = `listen: "127.0.0.1:%s"
jetstream { store_dir: %q, sync_interval: always }
`

func (n *nats) start(ctx context.Context, dir string) error {
	config := filepath.Join(dir, "nats.conf")
	return n.run(ctx, n.path, func(port string) ([]string, error) {
		return []string{"-c", config, "-l", filepath.Join(dir, "log")}, os.WriteFile(config, fmt.Appendf(nil, natsConfig, port, dir), 0o600)
	}, n.streams)
}

// streams makes the streams, or finds them as they are.
func (n *nats) streams(ctx context.Context) error {
	for name, settings := range map[string]string{
		"POSTS":     `{"name":"POSTS","subjects":["posts"],"storage":"file"}`,
		"KV_claims": `{"name":"KV_claims","subjects":["$KV.claims.>"],"storage":"file","max_msgs_per_subject":1,"discard":"new","allow_rollup_hdrs":true}`,
	} {
		if _, err := n.ask(ctx, "$JS.API.STREAM.CREATE."+name, settings); err != nil {
			return err
		}
	}
	return nil
}

func (n *nats) ask(ctx context.Context, subject, text string) (*natsAnswer, error) {
	c, err := dialNATS(ctx, n.addr, "run")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.request(subject, "", text)
}

func (n *nats) messages(ctx context.Context) (int64, error) {
	a, err := n.ask(ctx, "$JS.API.STREAM.INFO.POSTS", "")
	if err != nil {
		return 0, err
	}
	return a.State.Messages, nil
}

func (n *nats) agent(ctx context.Context, i int) (agent, error) {
	name := fmt.Sprint("agent-", i)
	c, err := dialNATS(ctx, n.addr, name)
	if err != nil {
		return nil, err
	}
	n.connected++ // a key of its own in each turn has no history
	return &natsAgent{natsConn: c, key: fmt.Sprintf("$KV.claims.%s-%d", name, n.connected)}, nil
}

type natsAgent struct {
	*natsConn
	key      string
	rev      int64  // of the last change of its key
	consumer string // that waits for messages; empty: there is none yet
}

func (a *natsAgent) post() error {
	_, err := a.request("posts", "", body)
	return err
}

// pair is the client library's create and delete of a key: each is refused if the key has
// changed since.
func (a *natsAgent) pair() error {
	const expect = "Nats-Expected-Last-Subject-Sequence: %d\r\n"
	for _, change := range []struct{ headers, value string }{{expect, a.name}, {expect + "KV-Operation: DEL\r\n", ""}} {
		answer, err := a.request(a.key, fmt.Sprintf(change.headers, a.rev), change.value)
		if err != nil {
			return err
		}
		a.rev = answer.Seq
	}
	return nil
}

// park asks a consumer of the stream for the next message that is stored. A plain
// subscription would show it before that.
func (a *natsAgent) park() error {
	if a.consumer == "" {
		answer, err := a.request("$JS.API.CONSUMER.CREATE.POSTS", "",
			`{"stream_name":"POSTS","config":{"deliver_policy":"new","ack_policy":"none","mem_storage":true,"inactive_threshold":300000000000}}`)
		if err != nil {
			return err
		}
		a.consumer = answer.Name
	}
	return a.publish("$JS.API.CONSUMER.MSG.NEXT.POSTS."+a.consumer, "", fmt.Sprintf(`{"batch":1,"expires":%d}`, parkSeconds*time.Second))
}

func (a *natsAgent) woken() error {
	if err := a.conn.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	b, err := a.message()
	if err == nil && bytes.HasPrefix(b, []byte("NATS/1.0 ")) { // a status, such as that the time is over
		err = fmt.Errorf("no message: %.60q", b)
	}
	return err
}

// natsConn speaks the text protocol of NATS.
type natsConn struct {
	conn  net.Conn
	in    *bufio.Reader
	name  string
	inbox string
}

func dialNATS(ctx context.Context, addr, name string) (*natsConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &natsConn{conn: conn, in: bufio.NewReader(conn), name: name, inbox: fmt.Sprintf("_INBOX.%s.%p", name, conn)}
	return c, c.write(`CONNECT {"verbose":false,"headers":true,"protocol":1}` + "\r\nSUB " + c.inbox + " 1\r\n")
}

func (c *natsConn) Close() error { return c.conn.Close() }

func (c *natsConn) write(text string) error {
	if err := c.conn.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	_, err := io.WriteString(c.conn, text)
	return err
}

// publish sends a message whose answer goes to the inbox.
func (c *natsConn) publish(subject, headers, text string) error {
	if headers == "" {
		return c.write(fmt.Sprintf("PUB %s %s %d\r\n%s\r\n", subject, c.inbox, len(text), text))
	}
	headers = "NATS/1.0\r\n" + headers + "\r\n"
	return c.write(fmt.Sprintf("HPUB %s %s %d %d\r\n%s%s\r\n", subject, c.inbox, len(headers), len(headers)+len(text), headers, text))
}

// natsAnswer is what this package reads of the answers of JetStream.
type natsAnswer struct {
	Seq   int64  `json:"seq"`  // that a stream gives to a message
	Name  string `json:"name"` // of a consumer
	State struct {
		Messages int64 `json:"messages"`
	} `json:"state"`
	Error *struct {
		Description string `json:"description"`
	} `json:"error"`
}

// request publishes a message and waits for the answer.
func (c *natsConn) request(subject, headers, text string) (*natsAnswer, error) {
	if err := c.publish(subject, headers, text); err != nil {
		return nil, err
	}
	b, err := c.message()
	if err != nil {
		return nil, err
	}
	a := &natsAnswer{}
	if err := json.Unmarshal(b, a); err != nil {
		return nil, fmt.Errorf("%s was answered %.200q: %w", subject, b, err)
	}
	if a.Error != nil {
		return nil, fmt.Errorf("%s was refused: %s", subject, a.Error.Description)
	}
	return a, nil
}

// message returns the payload of the next message.
func (c *natsConn) message() ([]byte, error) {
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "PING":
			if err := c.write("PONG\r\n"); err != nil {
				return nil, err
			}
		case "-ERR":
			return nil, errors.New(strings.TrimSpace(line))
		case "MSG", "HMSG":
			n, err := strconv.Atoi(words[len(words)-1])
			if err != nil || n < 0 || n > maxReply {
				return nil, fmt.Errorf("%q is no message", line)
			}
			b := make([]byte, n+2)
			_, err = io.ReadFull(c.in, b)
			return b[:n], err
		}
	}
}
