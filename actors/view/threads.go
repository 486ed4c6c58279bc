package view

import (
	"cmp"
	"encoding/json"
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

// ThreadPart sums up one part of a thread: its public messages, or the direct
// ones that one agent is a party to. What a viewer may see of a thread is the sum
// of the public part and the viewer's own.
type ThreadPart struct {
	Channel  hub.ChannelName `json:"channel"`
	First    hub.MessageID   `json:"first"`
	Root     hub.TaskID      `json:"root,omitempty"`
	Latest   hub.MessageID   `json:"latest"`
	LatestTS hub.Time        `json:"latest_ts"`
	Artifact hub.MessageID   `json:"artifact,omitempty"`
	Messages int64           `json:"messages"`
	Tasks    int64           `json:"tasks"`
}

// Add counts one more message of the thread.
func (p *ThreadPart) Add(m *core.StoredMessage) {
	if p.Messages++; p.First == 0 {
		p.First, p.Channel = m.ID, m.Channel
	}
	p.Latest, p.LatestTS = m.ID, m.TS
	if m.Kind == hub.KindArtifact {
		p.Artifact = m.ID
	}
	if m.Kind.OpensTask() {
		if p.Tasks++; p.Root == 0 {
			p.Root = m.ID
		}
	}
}

// merge adds the other part of the same thread.
func (p ThreadPart) merge(o ThreadPart) ThreadPart {
	switch {
	case o.Messages == 0:
		return p
	case p.Messages == 0:
		return o
	}
	if o.First < p.First {
		p.First, p.Channel = o.First, o.Channel
	}
	if p.Root == 0 || o.Root != 0 && o.Root < p.Root {
		p.Root = o.Root
	}
	if o.Latest > p.Latest {
		p.Latest, p.LatestTS = o.Latest, o.LatestTS
	}
	p.Artifact = max(p.Artifact, o.Artifact)
	p.Messages += o.Messages
	p.Tasks += o.Tasks
	return p
}

// threadCached is how many parts the writer keeps at hand; the rest it reads from
// the store.
const threadCached = 4096

// threads is the view of thread summaries. Its rows are stored with the commit
// that changes them, so it needs no memory per thread and no replay. The writer
// alone changes it; readers read rows.
type threads struct {
	rows  core.Rows
	cache *bounded.Map[string, ThreadPart] // by row key, with the table as first byte
}

func newThreads(rows core.Rows) *threads {
	return &threads{rows: rows, cache: bounded.New[string, ThreadPart](threadCached)}
}

func directPartKey(agent hub.AgentID, thread hub.ThreadID) []byte {
	return []byte(string(agent) + "\x00" + string(thread))
}

// prepare returns the rows of the parts that these records change.
func (t *threads) prepare(records []*core.Record) ([]core.Row, error) {
	changed := map[string]ThreadPart{}
	for _, r := range records {
		for i := range r.Messages {
			m := &r.Messages[i]
			if m.Thread == "" {
				continue
			}
			for _, k := range partsOf(m) {
				part, known := changed[k]
				if !known {
					var err error
					if part, err = t.part(k, core.Table(k[0]), []byte(k[1:])); err != nil {
						return nil, err
					}
				}
				part.Add(m)
				changed[k] = part
			}
		}
	}
	rows := make([]core.Row, 0, len(changed))
	for k, part := range changed {
		value, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		t.cache.Put(k, part)
		rows = append(rows, core.Row{Table: core.Table(k[0]), Key: []byte(k[1:]), Value: value})
	}
	return rows, nil
}

// forget empties the cache, which is ahead of the store: what prepare gave was not
// committed.
func (t *threads) forget() { t.cache.Clear() }

func (t *threads) part(k string, table core.Table, key []byte) (ThreadPart, error) {
	if part, ok := t.cache.Get(k); ok {
		return part, nil
	}
	return readThreadPart(t.rows, table, key)
}

// readThreadPart returns a stored part; a zero one if there is none.
func readThreadPart(rows core.Rows, table core.Table, key []byte) (ThreadPart, error) {
	value, err := rows.Row(table, key)
	if errors.Is(err, core.ErrNotFound) {
		return ThreadPart{}, nil
	}
	if err != nil {
		return ThreadPart{}, err
	}
	return DecodeThreadPart(value)
}

// DecodeThreadPart decodes a stored part. The error is a *hub.Error.
func DecodeThreadPart(value []byte) (part ThreadPart, err error) {
	if err := json.Unmarshal(value, &part); err != nil {
		return part, hub.NewError(hub.CodeCorruptRecord, "a stored thread summary cannot be read")
	}
	return part, nil
}

// VisiblePart returns what viewer may see of a thread.
func (t *threads) VisiblePart(thread hub.ThreadID, viewer hub.AgentID) (ThreadPart, error) {
	part, err := readThreadPart(t.rows, core.TableThread, []byte(thread))
	if err != nil || viewer == "" {
		return part, err
	}
	own, err := readThreadPart(t.rows, core.TableThreadAgent, directPartKey(viewer, thread))
	return part.merge(own), err
}

// FoundThread is a thread in a list: at is its latest message as of the beginning
// of the walk.
type FoundThread struct {
	ID   hub.ThreadID
	Part ThreadPart
	At   hub.MessageID
}

// LatestThread orders threads by their latest message, the latest first.
func LatestThread(a, b FoundThread) int { return cmp.Compare(b.At, a.At) }

// AsOf returns where a thread stands in a walk: its latest message that the viewer
// may see as of the beginning. latest is what it is now. 0: it has none, or the
// walk has passed it.
func (t *threads) AsOf(id hub.ThreadID, latest hub.MessageID, w Walk, sees Viewer) (hub.MessageID, error) {
	if uint64(latest) > w.AsOf {
		latest = 0
		err := t.rows.Messages(ThreadScope(id), 0, hub.MessageID(w.AsOf), true, func(m *core.StoredMessage) bool {
			if sees.Message(m) {
				latest = m.ID
			}
			return latest == 0
		})
		if err != nil {
			return 0, err
		}
	}
	if uint64(latest) >= w.Before {
		return 0, nil
	}
	return latest, nil
}

// Latest returns the first n threads of a walk that an agent may see something of,
// latest first. It reads every thread's row, but keeps few of them.
func (t *threads) Latest(agent hub.AgentID, w Walk, n int) ([]FoundThread, error) {
	best := Firsts[FoundThread]{N: n, Compare: LatestThread}
	var bad error
	keep := func(id hub.ThreadID, part ThreadPart) bool {
		var at hub.MessageID
		if at, bad = t.AsOf(id, part.Latest, w, Viewer{Agent: agent}); at != 0 {
			best.Add(FoundThread{id, part, at})
		}
		return bad == nil
	}
	direct := map[hub.ThreadID]bool{} // the agent's; their public part is merged in
	prefix := directPartKey(agent, "")
	if agent != "" {
		err := t.rows.RowsOf(core.TableThreadAgent, prefix, false, func(key, _ []byte) bool {
			id := hub.ThreadID(key[len(prefix):])
			var part ThreadPart
			if part, bad = t.VisiblePart(id, agent); bad != nil {
				return false
			}
			direct[id] = true
			return keep(id, part)
		})
		if err = cmp.Or(bad, err); err != nil {
			return nil, err
		}
	}
	err := t.rows.RowsOf(core.TableThread, nil, false, func(key, value []byte) bool {
		if direct[hub.ThreadID(key)] {
			return true
		}
		var part ThreadPart
		if part, bad = DecodeThreadPart(value); bad != nil {
			return false
		}
		return keep(hub.ThreadID(key), part)
	})
	return best.Sorted(), cmp.Or(bad, err)
}

// Walk is a place in a list, highest number first, whose rows would move or be
// followed by others meanwhile: what came behind asOf is not part of it.
type Walk struct{ AsOf, Before uint64 }
