package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"hubcli/stress/wire"
)

// keeper writes what is more than a message, one call after the other: a task,
// its end, an artifact, a memory that replaces its last one.
type keeper struct {
	name string
	room string // where artifacts and memories go

	n       int // of the last write
	open    *thing
	last    *thing   // the last write that was answered
	tasks   []*thing // answered, with whether they are done
	arts    []*thing // answered
	memory  *thing   // the last that was answered
	answers int64
	repeats int64
}

// makeRoom makes the room of the keepers, or finds the one that was made.
func makeRoom(c *wire.Conn, addr string) (string, error) {
	var id string
	for _, in := range []struct {
		path string
		body map[string]any
	}{
		{"/v1/projects", map[string]any{"name": "kept"}},
		{"/v1/rooms", map[string]any{"project": "kept", "name": "kept"}},
	} {
		request, err := wire.Post(addr, in.path, in.body, "Idempotency-Key", "made once"+in.path)
		if err != nil {
			return "", err
		}
		status, body, err := c.Within(ioTimeout, request.Bytes())
		if err != nil {
			return "", err
		}
		var answer struct {
			Result struct {
				Room string `json:"room_id"`
			} `json:"result"`
		}
		if err := json.Unmarshal(body, &answer); err != nil || status != 201 {
			return "", fmt.Errorf("%w: POST %s answered %d %s", errBroken, in.path, status, body)
		}
		id = answer.Result.Room
	}
	return id, nil
}

// kind is what a keeper writes.
type kind int

const (
	task kind = iota
	done
	artifact
	memory
	kinds // their number
)

// titles bounds the titles of each keeper's artifacts; further ones are versions of them.
const titles = 500

// thing is one call of a keeper with its idempotency key.
type thing struct {
	kind kind
	n    int
	task *thing // that is done
	id   string // once answered
	done bool   // a task: its end was answered
}

// text is what a write carries. It follows from name and number, so that it can
// be compared later, and is between some bytes and a few pages long.
func (k *keeper) text(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), uint64(len(k.name))))
	return fmt.Sprintf("%s/%d %s", k.name, n, strings.Repeat(fmt.Sprintf("%d,", n), random.IntN(1500)))
}

func (k *keeper) next() *thing {
	k.n++
	t := &thing{n: k.n, kind: kind(k.n-1) % kinds}
	if t.kind == done {
		t.task = k.tasks[len(k.tasks)-1]
	}
	return t
}

func (k *keeper) request(addr string, t *thing) (*wire.Request, error) {
	key := []string{"Idempotency-Key", fmt.Sprintf("%s-%d", k.name, t.n)}
	switch t.kind {
	case task:
		return wire.Post(addr, "/v1/messages", map[string]any{"from_agent": k.name, "channel": "general", "kind": "task", "body": fmt.Sprintf("%s/%d", k.name, t.n)}, key...)
	case done:
		return wire.Post(addr, "/v1/tasks/"+t.task.id+"/complete", map[string]any{"agent_id": k.name}, key...)
	case artifact: // a room has a bound of titles, and a long run makes more artifacts
		return wire.Post(addr, "/v1/artifacts", map[string]any{"room_id": k.room, "title": fmt.Sprintf("%s/%d", k.name, t.n%titles), "kind": "text", "by": k.name, "body": k.text(t.n)}, key...)
	default:
		return wire.Post(addr, "/v1/memory", map[string]any{"room_id": k.room, "key": k.name, "by": k.name, "text": k.text(t.n)}, key...)
	}
}

// work settles what the last kill left open and writes until the connection
// ends. The error is nil unless a promise was broken.
func (k *keeper) work(ctx context.Context, addr string, answered func()) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return nil // the hub is gone already
	}
	defer c.Close()
	if err := k.repeat(c, addr); err != nil {
		return unlessGone(err)
	}
	for ctx.Err() == nil {
		k.open = k.next()
		if err := k.send(c, addr, k.open); err != nil {
			return unlessGone(err)
		}
		k.open = nil
		answered()
	}
	return nil
}

// settle repeats what is open, on a hub that will not be killed.
func (k *keeper) settle(ctx context.Context, addr string) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return k.repeat(c, addr)
}

// repeat sends the last answered and the open write again, with their keys.
func (k *keeper) repeat(c *wire.Conn, addr string) error {
	for _, t := range []*thing{k.last, k.open} {
		if t == nil {
			continue
		}
		k.repeats++
		if err := k.send(c, addr, t); err != nil {
			return err
		}
	}
	k.open = nil
	return nil
}

// send does one write and keeps what was answered.
func (k *keeper) send(c *wire.Conn, addr string, t *thing) error {
	request, err := k.request(addr, t)
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	status, body, err := c.Within(ioTimeout, request.Bytes())
	if err != nil {
		return err
	}
	var answer struct {
		OK     bool `json:"ok"`
		Result struct {
			ID       json.Number `json:"id"`
			Artifact string      `json:"artifact_id"`
			Memory   string      `json:"memory_id"`
			Status   string      `json:"status"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.OK || status/100 != 2 {
		return fmt.Errorf("%w: write %d of %s answered %d %s", errBroken, t.n, k.name, status, bytes.TrimSpace(body))
	}
	id := answer.Result.ID.String() + answer.Result.Artifact + answer.Result.Memory
	k.answers++
	if t.id != "" || t.done {
		if t.kind != done && t.id != id {
			return fmt.Errorf("%w: write %d of %s was answered as %s and, sent again, as %s", errBroken, t.n, k.name, t.id, id)
		}
		return nil
	}
	t.id, k.last = id, t
	switch t.kind {
	case task:
		k.tasks = append(k.tasks, t)
	case done:
		t.done, t.task.done = true, true
	case artifact:
		k.arts = append(k.arts, t)
	default:
		k.memory = t
	}
	return nil
}

// verify compares the hub with what it has answered: all of it, or the last of
// each kind.
func (k *keeper) verify(c *wire.Conn, addr string, all bool) error {
	tasks, arts := k.tasks, k.arts
	if !all {
		tasks, arts = tasks[max(0, len(tasks)-1):], arts[max(0, len(arts)-1):]
	}
	for _, t := range tasks {
		if err := k.verifyTask(c, addr, t); err != nil {
			return err
		}
	}
	for _, t := range arts {
		status, body, err := c.Within(ioTimeout, wire.Get(addr, "/v1/artifacts/"+t.id+"/content").Bytes())
		if err != nil {
			return err
		}
		if status != 200 {
			return fmt.Errorf("%w: artifact %s of %s answers %d %s", errBroken, t.id, k.name, status, bytes.TrimSpace(body))
		}
		if string(body) != k.text(t.n) {
			return fmt.Errorf("%w: artifact %s of %s has %d bytes, not the %d that were kept, or others", errBroken, t.id, k.name, len(body), len(k.text(t.n)))
		}
	}
	return k.verifyMemory(c, addr)
}

func (k *keeper) verifyTask(c *wire.Conn, addr string, t *thing) error {
	var answer struct {
		Result struct {
			Status string `json:"status"`
		} `json:"result"`
	}
	if err := get(c, addr, "/v1/tasks/"+t.id, &answer); err != nil {
		return err
	}
	ending := k.open != nil && k.open.task == t
	if status := answer.Result.Status; t.done && status != "done" || !t.done && !ending && status != "open" {
		return fmt.Errorf("%w: task %s of %s is %s; its end was answered: %v", errBroken, t.id, k.name, status, t.done)
	}
	return nil
}

func (k *keeper) verifyMemory(c *wire.Conn, addr string) error {
	if k.memory == nil {
		return nil
	}
	var answer struct {
		Result []struct {
			Text string `json:"text"`
		} `json:"result"`
	}
	if err := get(c, addr, "/v1/memory?"+url.Values{"room_id": {k.room}, "key": {k.name}}.Encode(), &answer); err != nil {
		return err
	}
	if len(answer.Result) == 1 {
		text := answer.Result[0].Text
		if text == k.text(k.memory.n) || k.open != nil && k.open.kind == memory && text == k.text(k.open.n) {
			return nil
		}
	}
	return fmt.Errorf("%w: the memory of %s is not what write %d gave it: %d rows", errBroken, k.name, k.memory.n, len(answer.Result))
}
