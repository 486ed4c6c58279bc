package actors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// Invariant 9: one visible(viewer, message) decides for every path that shows,
// counts or searches a message. Random public and direct messages, tasks and
// threads; then every path, for every viewer, against that one rule.
func TestInvariant9NoPathShowsAnothersDirectMessage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := newMemStore()
		r := start(t, store, ringOf(rapid.SampledFrom([]int{1, 1 << 20}).Draw(rt, "ring")))
		defer r.stop()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		parties, viewers := someAgents[:3], append([]hub.AgentID{"", "stranger"}, someAgents[:3]...)
		c := &client{r: r, l: newLedger(), rng: rng, name: "c"}
		for _, ch := range someChannels[:4] {
			r.channel(ch)
		}
		for range rapid.IntRange(5, 40).Draw(rt, "posts") {
			c.post(t.Context(), pick(rng, parties))
			if rng.IntN(6) == 0 {
				_, _ = r.CompleteTask(t.Context(), hub.TaskID(rng.IntN(40)+1), hub.CompleteInput{AgentID: pick(rng, parties), Note: "note"})
			}
		}
		all := storedMessages(t, store)
		for _, viewer := range viewers {
			checkMessagesSeen(rt, t, r, viewer, all)
			checkThreadsSeen(rt, t, r, viewer, all)
			checkTasksSeen(rt, t, r, viewer, all)
		}
	})
}

func sees(viewer hub.AgentID, m *hub.Message) bool {
	to := hub.AgentID("")
	if m.ToAgent != nil {
		to = *m.ToAgent
	}
	return to == "" || viewer != "" && (viewer == to || viewer == m.FromAgent)
}

func checkMessagesSeen(rt *rapid.T, t *testing.T, r *rig, viewer hub.AgentID, all []hub.Message) {
	for i := range all {
		m := &all[i]
		row, err := r.Message(t.Context(), m.ID, viewer)
		if seen := err == nil; seen != sees(viewer, m) || seen && len(row) == 0 {
			rt.Fatalf("message %d by id for %q: %s, %v", m.ID, viewer, row, err)
		}
		if err != nil && codeOf(err) != hub.CodeMessageNotFound {
			rt.Fatalf("message %d for %q: %v, which tells that there is one", m.ID, viewer, err)
		}
		if _, err := r.Receipt(t.Context(), m.ID, viewer); !sees(viewer, m) && codeOf(err) != hub.CodeMessageNotFound {
			rt.Fatalf("the receipt of %d for %q: %v", m.ID, viewer, err)
		}
		if viewer == "" || sees(viewer, m) {
			continue
		}
		for _, kind := range []hub.Kind{hub.KindChat, hub.KindTaskResult} {
			if _, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: viewer, Body: "x", ReplyTo: m.ID, Kind: kind}); codeOf(err) != hub.CodeReplyNotFound {
				rt.Fatalf("a %s by %q in reply to %d: %v", kind, viewer, m.ID, err)
			}
		}
		if _, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: viewer, Body: "x", ParentTaskID: m.ID}); codeOf(err) != hub.CodeParentNotFound {
			rt.Fatalf("a child by %q of %d: %v", viewer, m.ID, err)
		}
	}
	if viewer == "" {
		return
	}
	for _, rd := range readersOf(viewer) {
		for _, since := range []hub.MessageID{0, hub.MessageID(len(all) / 2)} {
			p, err := rd.read(t.Context(), r, since, 1000, 0)
			if err != nil {
				rt.Fatalf("%s by %q: %v", rd.name, viewer, err)
			}
			for _, m := range decodeAll(t, p.Rows) {
				if !sees(viewer, &m) {
					rt.Fatalf("%s shows %q the message %+v", rd.name, viewer, m)
				}
			}
		}
	}
	for _, th := range someThreads[2:] {
		p, err := r.Messages(t.Context(), hub.MessagesQuery{ThreadID: th, Limit: 1000, Tail: true})
		require.NoError(rt, err)
		for _, m := range decodeAll(t, p.Rows) {
			if m.ToAgent != nil {
				rt.Fatalf("the public rows of %s hold %+v", th, m)
			}
		}
	}
}

func checkThreadsSeen(rt *rapid.T, t *testing.T, r *rig, viewer hub.AgentID, all []hub.Message) {
	summaries, _, err := r.Threads(t.Context(), hub.ThreadsQuery{Viewer: viewer, Limit: 100})
	require.NoError(rt, err)
	listed := map[hub.ThreadID]hub.ThreadSummary{}
	for _, s := range summaries {
		listed[s.ThreadID] = s
	}
	for _, id := range someThreads[2:] {
		var want []hub.MessageID
		var tasks int64
		for i := range all {
			if m := &all[i]; inThread(id)(m) && sees(viewer, m) {
				want = append(want, m.ID)
				if m.Kind.OpensTask() {
					tasks++
				}
			}
		}
		th, err := r.Thread(t.Context(), id, viewer)
		s, inList := listed[id]
		if len(want) == 0 {
			if codeOf(err) != hub.CodeThreadNotFound || inList {
				rt.Fatalf("thread %s for %q: %v, listed %v; nothing of it is visible", id, viewer, err, inList)
			}
			continue
		}
		if err != nil || !inList {
			rt.Fatalf("thread %s for %q: %v, listed %v", id, viewer, err, inList)
		}
		got := ids(decodeAll(t, th.Messages))
		if !slices.Equal(got, want) {
			rt.Fatalf("thread %s for %q: messages %v, want %v", id, viewer, got, want)
		}
		for _, x := range []hub.ThreadSummary{s, th.Thread} {
			if x.MessageCount != int64(len(want)) || x.TotalTaskCount != tasks || x.LatestMessageID != want[len(want)-1] || x.OpenTaskCount > tasks {
				rt.Fatalf("summary of %s for %q: %+v; want %d messages, %d tasks, latest %d", id, viewer, x, len(want), tasks, want[len(want)-1])
			}
			if x.RootTaskID != nil && !slices.Contains(want, *x.RootTaskID) || x.LatestArtifactID != nil && !slices.Contains(want, *x.LatestArtifactID) {
				rt.Fatalf("summary of %s for %q names what it must not: %+v", id, viewer, x)
			}
		}
	}
}

func checkTasksSeen(rt *rapid.T, t *testing.T, r *rig, viewer hub.AgentID, all []hub.Message) {
	shown := map[hub.TaskID]bool{}
	queries := []hub.TasksQuery{{}, {Active: true}, {Status: hub.TaskDone}, {ThreadID: "t1"}, {ThreadID: "t2"}}
	for i := range all {
		if all[i].Kind.OpensTask() {
			queries = append(queries, hub.TasksQuery{ParentID: all[i].ID})
		}
	}
	for _, q := range queries {
		q.Viewer, q.Limit = viewer, 1000
		tasks, _, err := r.Tasks(t.Context(), q)
		require.NoError(rt, err)
		for _, task := range tasks {
			shown[task.TaskID] = true
		}
	}
	for i := range all {
		m := &all[i]
		if !m.Kind.OpensTask() {
			continue
		}
		_, err := r.Task(t.Context(), m.ID, viewer)
		if (err == nil) != sees(viewer, m) || shown[m.ID] != sees(viewer, m) {
			rt.Fatalf("task %d for %q: %v, listed %v", m.ID, viewer, err, shown[m.ID])
		}
		if viewer == "" || sees(viewer, m) {
			continue
		}
		_, err = r.CompleteTask(t.Context(), m.ID, hub.CompleteInput{AgentID: viewer})
		if codeOf(err) != hub.CodeTaskNotFound {
			rt.Fatalf("%q completes %d: %v", viewer, m.ID, err)
		}
		_, err = r.UpdateTask(t.Context(), m.ID, hub.TaskUpdateInput{AgentID: viewer, Assignee: &viewer})
		if codeOf(err) != hub.CodeTaskNotFound {
			rt.Fatalf("%q takes %d: %v", viewer, m.ID, err)
		}
	}
}

// Invariant 4: every fact has one owner, the one that decided it, and changes
// only that owner's state.
func TestInvariant4EveryFactIsItsOwners(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	load(r, newLedger(), 11, 6, 120)
	r.idle()
	kinds := map[core.OwnerKind]int{}
	err := store.Records(0, func(rec *core.Record) error {
		kinds[rec.Owner.Kind]++
		for _, e := range rec.Facts {
			f, err := core.DecodeFact(e)
			if err != nil {
				return err
			}
			if got := ownerOfFact(f); got != rec.Owner {
				t.Errorf("record %d of %s holds %T %+v of %s", rec.Seq, rec.Owner, f, f, got)
			}
		}
		return nil
	})
	if err != nil || len(kinds) != 6 {
		t.Errorf("%v; records by owner kind %v", err, kinds)
	}
}

// ownerOfFact derives from a fact whose state it changes.
func ownerOfFact(f core.Fact) core.Owner {
	lease := func(space core.LeaseSpace, key string) core.Owner {
		return core.LeaseOwner(core.LeaseShard(core.LeaseKey{Space: space, Key: key}))
	}
	switch f := f.(type) {
	case *core.SessionStarted:
		return core.AgentOwner(f.Agent)
	case *core.SessionRenamed:
		return core.AgentOwner(f.Agent)
	case *core.SessionEnded:
		return core.AgentOwner(f.Agent)
	case *core.SessionRevived:
		return core.AgentOwner(f.Session.AgentID)
	case *core.PriorKeyRetired:
		return core.AgentOwner(f.Agent)
	case *core.ChannelCreated:
		return core.ChannelOwner(f.Name)
	case *core.LeaseGranted:
		return lease(f.Space, f.Key)
	case *core.LeaseRenewed:
		return lease(f.Space, f.Key)
	case *core.LeaseReleased:
		return lease(f.Space, f.Key)
	case *core.LeaseBroken:
		return lease(f.Space, f.Key)
	case *core.LeaseExpired:
		return lease(f.Space, f.Key)
	case *core.LeaseGraced:
		return lease(f.Space, f.Key)
	case *core.TaskOpened, *core.TaskChanged, *core.TaskOffered, *core.OfferEnded,
		*core.RunStarted, *core.RunReopened, *core.RunJoined:
		return core.TasksOwner()
	case *core.ProjectCreated, *core.RoomCreated, *core.RoomBound, *core.RoomUnbound:
		return core.ProjectsOwner()
	case *core.MemoryRemembered:
		if f.Scope == hub.ScopeProject {
			return core.MemoryOwner(string(f.ProjectID))
		}
		return core.MemoryOwner(string(f.RoomID))
	}
	return core.Owner{Name: fmt.Sprintf("%T", f)}
}
