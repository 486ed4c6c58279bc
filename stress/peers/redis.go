package peers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// redis is a Redis server whose append-only file is synced before each answer.
type redis struct {
	server
	path, version string
	last          atomic.Value // id of the last message, a string
}

func findRedis(ctx context.Context) (*redis, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("redis-server is not installed (Debian: redis-server)")
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return nil, err
	}
	_, version, _ := strings.Cut(string(out), "v=")
	version, _, _ = strings.Cut(version, " ")
	return &redis{path: path, version: version}, nil
}

func (r *redis) describe() (name, lacks string) {
	return "Redis " + r.version + ", appendfsync always",
		"the server knows no sender, no threads and no direct messages; a key with a time to live has no fence and no queue of waiters; nothing wakes an agent that is not connected"
}

func (r *redis) start(ctx context.Context, dir string) error {
	return r.run(ctx, r.path, func(port string) ([]string, error) {
		return []string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no", "--logfile", dir + "/log"}, nil
	}, func(ctx context.Context) error {
		_, err := r.ask(ctx, "PING") // it answers an error while it reads its file
		return err
	})
}

func (r *redis) ask(ctx context.Context, words ...string) (any, error) {
	c, err := dialRESP(ctx, r.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.call(words...)
}

func (r *redis) messages(ctx context.Context) (int64, error) {
	n, err := r.ask(ctx, "XLEN", "posts")
	count, ok := n.(int64)
	if err == nil && !ok {
		err = fmt.Errorf("XLEN was answered %v", n)
	}
	return count, err
}

func (r *redis) agent(ctx context.Context, i int) (agent, error) {
	c, err := dialRESP(ctx, r.addr)
	if err != nil {
		return nil, err
	}
	return &redisAgent{resp: c, peer: r, name: fmt.Sprint("agent-", i)}, nil
}

type redisAgent struct {
	*resp
	peer *redis
	name string
}

var body = strings.Repeat("x", bodyBytes)

func (a *redisAgent) post() error {
	id, err := a.call("XADD", "posts", "*", "from", a.name, "body", body)
	if err != nil {
		return err
	}
	a.peer.last.Store(fmt.Sprint(id)) // a poll begins there; a wake has one poster
	return nil
}

// giveBack deletes a key if its value is the holder's.
const giveBack = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0"

func (a *redisAgent) pair() error {
	got, err := a.call("SET", "claim:"+a.name, a.name, "NX", "PX", "300000")
	if err != nil || got != "OK" {
		return fmt.Errorf("SET was answered %v %w", got, err)
	}
	freed, err := a.call("EVAL", giveBack, "1", "claim:"+a.name, a.name)
	if err != nil || freed != int64(1) {
		return fmt.Errorf("EVAL was answered %v %w", freed, err)
	}
	return nil
}

func (a *redisAgent) park() error {
	return a.send("XREAD", "BLOCK", strconv.Itoa(parkSeconds*1000), "STREAMS", "posts", a.peer.last.Load().(string))
}

func (a *redisAgent) woken() error {
	rows, err := a.receive()
	if err == nil && rows == nil {
		err = errors.New("XREAD ended without a message")
	}
	return err
}

// resp speaks RESP2, the protocol of Redis.
type resp struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialRESP(ctx context.Context, addr string) (*resp, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &resp{conn: c, in: bufio.NewReader(c)}, nil
}

func (c *resp) Close() error { return c.conn.Close() }

func (c *resp) call(words ...string) (any, error) {
	if err := c.send(words...); err != nil {
		return nil, err
	}
	return c.receive()
}

func (c *resp) send(words ...string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if err := c.conn.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	_, err := io.WriteString(c.conn, b.String())
	return err
}

// maxReply bounds the strings and lists of an answer.
const maxReply = 1 << 20

// receive returns a string, an int64, a list, or nil for none.
func (c *resp) receive() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line is no answer")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return nil, errors.New(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil || kind != ':' && n > maxReply:
		return nil, fmt.Errorf("%q is no answer", line)
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(c.in, b)
		return string(b[:n]), err
	case kind == '*':
		var list []any
		for range n {
			one, err := c.receive()
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		}
		return list, nil
	}
	return nil, fmt.Errorf("%q is no answer", line)
}
