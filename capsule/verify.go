package capsule

import (
	"context"
	"crypto/sha256"
	"strconv"

	"hubcli/hub"
)

// Verify reads every entry once and checks everything: hashes and sizes, each line by
// itself, the order of lines, and that each line names only what is in the capsule. After
// it, every other method gives what a hub could have written, as long as nobody changes
// the file. progress may be nil; it gets the bytes of lines and blobs that were read, and
// those of the whole capsule. Errors: capsule_invalid, capsule_too_large, the cause of ctx,
// and those of the file.
func (c *Reader) Verify(ctx context.Context, progress func(done, total int64)) error {
	v := &verification{Reader: c, ctx: ctx, progress: progress}
	for path := range c.entries {
		v.total += c.entries[path].Bytes
		if sha, ok := blobOf(path); ok {
			if v.blobs == nil {
				v.blobs = map[string]bool{}
			}
			v.blobs[sha] = false
		}
	}
	for _, step := range []func() error{
		v.head, v.agentLines, v.roomLines, v.decisionLines, v.artifactLines, v.contents,
		v.memoryLines, v.runLines, v.taskLines, v.messageLines, v.work.whole,
	} {
		if err := step(); err != nil {
			return err
		}
		v.tell()
	}
	return nil
}

// verification is what a Verify knows so far.
type verification struct {
	*Reader
	ctx         context.Context
	progress    func(done, total int64)
	done, total int64
	agents      map[hub.AgentID]struct{}
	blobs       map[string]bool // whether a line names it
	rooms, runs int64
	titles      map[inPlace]int64 // the latest version
	memories    map[inPlace]Ref   // the memory that is current
	work        work
	direct      int64
}

// inPlace stands for a name in a room. It is a hash, so that long names take no memory.
type inPlace [16]byte

func placeOf(room Ref, name string) inPlace {
	sum := sha256.Sum256([]byte(string(room) + "\x00" + name))
	return inPlace(sum[:16])
}

// tell reports the progress.
func (v *verification) tell() {
	if v.progress != nil {
		v.progress(v.done, v.total)
	}
}

// verifyLines reads the lines of an entry. check returns faults.
func verifyLines[T any, P checked[T]](v *verification, path string, check func(n int64, line P) error) error {
	const often = 1_000 // lines between looks at the context
	rows := max(1, v.entries[path].Rows)
	before := v.done
	err := eachLine(v.Reader, path, func(n int64, line P) error {
		if n%often == 0 {
			if v.ctx.Err() != nil {
				return context.Cause(v.ctx)
			}
			v.done = before + v.entries[path].Bytes*n/rows
			v.tell()
		}
		return check(n, line)
	})
	v.done = before + v.entries[path].Bytes
	return err
}

// head checks project.json and README.md.
func (v *verification) head() error {
	p, err := v.Project()
	if err != nil {
		return err
	}
	if p.Slug != v.manifest.Project.Slug || p.Name != v.manifest.Project.Name {
		return invalid(nameProject, "the manifest gives the project another name")
	}
	_, err = v.small(nameReadme, maxSmall)
	v.done += v.entries[nameProject].Bytes + v.entries[nameReadme].Bytes
	return err
}

// contents checks the bytes of the artifacts.
func (v *verification) contents() error {
	for sha, named := range v.blobs {
		if err := v.ctx.Err(); err != nil {
			return context.Cause(v.ctx)
		}
		if !named {
			return invalid(BlobPath(sha), "no artifact has these bytes")
		}
		data, err := v.Blob(sha)
		if err != nil {
			return err
		}
		v.done += int64(len(data))
		v.tell()
	}
	return nil
}

func (v *verification) agentLines() error {
	v.agents = make(map[hub.AgentID]struct{}, min(v.manifest.Counts.Agents, 1<<10))
	last := hub.AgentID("")
	return verifyLines(v, nameAgents, func(_ int64, a *Agent) error {
		if a.ID <= last {
			return fault("the agents are not sorted by id, or one stands twice")
		}
		last = a.ID
		v.agents[a.ID] = struct{}{}
		return nil
	})
}

// knows refuses an agent without a line of its own. Empty is absent.
func (v *verification) knows(ids ...hub.AgentID) error {
	for _, id := range ids {
		if _, ok := v.agents[id]; !ok && id != "" && !id.Reserved() {
			return fault("the agent " + string(id) + " has no line in agents.ndjson")
		}
	}
	return nil
}

// inOrder refuses a reference that is not the n-th.
func inOrder(id Ref, letter byte, n int64) error {
	if id != refOf(letter, n) {
		return fault("the lines are not numbered one after the other: this one has to be " + string(refOf(letter, n)))
	}
	return nil
}

// inRoom refuses a room that is not in the capsule. Empty is absent.
func (v *verification) inRoom(room Ref) error {
	if n, _ := room.number('r'); n > v.rooms {
		return fault("there is no room " + string(room))
	}
	return nil
}

func (v *verification) roomLines() error {
	slugs := map[string]bool{}
	err := verifyLines(v, nameRooms, func(n int64, r *Room) error {
		if slugs[r.Slug] {
			return fault("two rooms have the same slug")
		}
		slugs[r.Slug] = true
		return firstOf(inOrder(r.ID, 'r', n), v.knows(r.CreatedBy))
	})
	v.rooms = v.manifest.Counts.Rooms
	return err
}

func (v *verification) decisionLines() error {
	return verifyLines(v, nameDecisions, func(n int64, d *Decision) error {
		return firstOf(inOrder(d.ID, 'd', n), v.inRoom(d.Room), v.knows(d.By))
	})
}

func (v *verification) artifactLines() error {
	v.titles = map[inPlace]int64{}
	err := verifyLines(v, nameArtifacts, func(n int64, a *Artifact) error {
		key := placeOf(a.Room, a.Title)
		if a.Version != v.titles[key]+1 {
			return fault("the versions of a title are not numbered from 1, one after the other")
		}
		v.titles[key] = a.Version
		if a.LeftOut == "" {
			if e := v.entries[BlobPath(a.SHA256)]; e == nil || e.Bytes != a.Bytes {
				return fault("the capsule has no bytes of this hash and length")
			}
			v.blobs[a.SHA256] = true
		}
		return firstOf(inOrder(a.ID, 'a', n), v.inRoom(a.Room), v.knows(a.By))
	})
	v.titles = nil
	return err
}

func (v *verification) memoryLines() error {
	v.memories = map[inPlace]Ref{}
	replaced := map[Ref]bool{} // of the current ones: whether they say that they are replaced
	err := verifyLines(v, nameMemories, func(n int64, m *Memory) error {
		if m.Key != "" {
			key := placeOf(m.Room, m.Key)
			current := v.memories[key]
			if m.Replaces != current || current != "" && !replaced[current] {
				return fault("it does not replace the memory that its key has, or that one does not say so")
			}
			delete(replaced, current)
			if delete(v.memories, key); m.Text != "" {
				v.memories[key], replaced[m.ID] = m.ID, m.ReplacedAt != nil
			}
		}
		return firstOf(inOrder(m.ID, 'k', n), v.inRoom(m.Room), v.knows(m.By))
	})
	if err != nil {
		return err
	}
	for ref, is := range replaced {
		if is {
			return invalid(nameMemories, "%s says that it was replaced, and no line replaces it", ref)
		}
	}
	v.memories = nil
	return nil
}

func (v *verification) runLines() error {
	err := verifyLines(v, nameRuns, func(n int64, r *Run) error {
		return firstOf(inOrder(r.ID, 'u', n), v.inRoom(r.Room), v.knows(r.CreatedBy))
	})
	v.runs = v.manifest.Counts.Runs
	return err
}

func (v *verification) taskLines() error {
	v.work = newWork(&v.manifest, &v.limits)
	knowledge := v.manifest.Scope == ScopeKnowledge
	return verifyLines(v, nameTasks, func(_ int64, t *Task) error {
		if n, _ := t.Run.number('u'); n > v.runs {
			return fault("there is no run " + string(t.Run))
		}
		switch {
		case t.Direct && v.manifest.Privacy == ShareSafe:
			return fault("a direct message opened the task, and such tasks are private")
		case t.Outcome != "" && !knowledge || t.Result != 0 && knowledge:
			return fault("the scope " + string(v.manifest.Scope) + " says what came out of a task in another way")
		}
		if err := firstOf(v.inRoom(t.Room), v.knows(t.CreatedBy, t.Assignee, t.Asked)); err != nil {
			return err
		}
		return v.work.task(t)
	})
}

func (v *verification) messageLines() error {
	if v.manifest.Scope == ScopeKnowledge {
		return nil
	}
	for n := int64(1); n <= v.rooms; n++ {
		room, last := refOf('r', n), Number(0)
		err := verifyLines(v, MessagesPath(room), func(_ int64, m *Message) error {
			if m.ID <= last {
				return fault("the messages are not sorted by number, or one stands twice")
			}
			last = m.ID
			if m.To != "" {
				v.direct++
				if v.manifest.Privacy == ShareSafe {
					return fault("a capsule that is safe to share has no direct messages")
				}
			}
			return firstOf(v.knows(m.From, m.To), v.work.message(m, n))
		})
		if err != nil {
			return err
		}
	}
	if v.direct != v.manifest.Counts.Direct {
		return invalid(nameManifest, "it counts %d direct messages, and there are %d", v.manifest.Counts.Direct, v.direct)
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func numbered(n Number) string { return "#m" + strconv.FormatInt(int64(n), 10) }
