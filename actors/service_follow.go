package actors

import (
	"context"
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// followTick is how often a follower looks whether agents do something else only because
// time has passed: they become idle or away.
const followTick = time.Second

// doing is what is shown of an agent. A change of it is news.
type doing struct {
	session  uint64
	presence hub.Presence
	activity hub.Activity
	listener hub.Listener
	tool     string
	task     hub.TaskID
}

// follow is one reader of the whole hub. The views tell it what has changed, and it reads
// messages from the ring or the store, as far as its reader asks.
type follow struct {
	hub     *Hub
	changes *view.Follower
	news    *view.Subscription
	feed    view.Feed
	at      hub.FollowPlace
	agents  map[hub.AgentID]doing // as they were told
	first   []hub.ChangedKind     // what the next notice names whatever has changed
	told    time.Time             // the last notice
	looked  time.Time             // the last look at all agents
}

// Follow begins to follow; see hub.Follows.
func (h *Hub) Follow(_ context.Context, at *hub.FollowPlace) (hub.Follow, error) {
	changes := h.view.Changes.Follow()
	if changes == nil {
		return nil, hub.Errorf(hub.CodeTooManyPolls, "%d programs follow the hub already", hub.MaxFollows).
			With("limit", hub.MaxFollows).WithRetryAfter(1).WithFix("close a page of the console, or end another program that follows")
	}
	f := &follow{
		hub: h, changes: changes, agents: map[hub.AgentID]doing{},
		news: h.view.Notifier.Subscribe([]core.Scope{view.PublicScope(), view.DirectScope()}),
		feed: view.Feed{Scopes: []core.Scope{view.AllScope()}, All: true, Limit: hub.DefaultPageRows},
	}
	seq, head := h.view.ShownUpTo(), h.view.Ring.Visible()
	f.at = hub.FollowPlace{Message: head, Seq: seq}
	if at != nil {
		f.at.Message = min(at.Message, head)
	}
	f.first = []hub.ChangedKind{hub.ChangedAgents, hub.ChangedLeases} // no record has what agents do and which of them wait
	if at == nil || at.Seq != seq {                                   // also of one that was told by a later hub
		f.first = slices.DeleteFunc(hub.ChangedKinds(), func(k hub.ChangedKind) bool { return k == hub.ChangedMessages })
	}
	if head-f.at.Message > hub.MaxFollowBack {
		f.at.Message, f.first = head, hub.ChangedKinds()
	}
	f.look(nil)
	return f, nil
}

// Close implements hub.Follow.
func (f *follow) Close() {
	f.changes.Close()
	f.news.Close()
}

// Next implements hub.Follow.
func (f *follow) Next(ctx context.Context, wait time.Duration) (hub.News, error) {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for {
		news, err := f.collect(ctx)
		if err != nil || len(news.Rows) > 0 || news.Changed != nil {
			return news, err
		}
		again := time.NewTimer(min(followTick, wait))
		select {
		case <-f.news.C:
		case <-f.changes.C:
			// What comes together is told together.
			if err := f.gather(ctx); err != nil {
				again.Stop()
				return hub.News{At: f.at}, nil
			}
		case <-again.C:
		case <-timeout.C:
			again.Stop()
			return hub.News{At: f.at}, nil
		case <-ctx.Done():
			again.Stop()
			return hub.News{At: f.at}, nil
		case <-f.hub.engine.Ending:
			again.Stop()
			return hub.News{At: f.at}, nil
		}
		again.Stop()
	}
}

// gather waits until the last notice is some time ago.
func (f *follow) gather(ctx context.Context) error {
	left := hub.FollowTogether - time.Since(f.told)
	if left <= 0 {
		return nil
	}
	pause := time.NewTimer(left)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect returns what there is. The place of the record is read first: all that it
// covers is in what is taken after. The rows count as under way until ctx ends.
func (f *follow) collect(ctx context.Context) (hub.News, error) {
	h := f.hub
	seq := h.view.ShownUpTo()
	taken := f.changes.Take()
	rows, examined, err := h.view.ReadPage(ctx, &f.feed, f.at.Message, h.view.Ring.Visible())
	if err != nil {
		return hub.News{At: f.at}, err
	}
	news := hub.News{Rows: view.Page(rows, 0, examined).Rows}
	f.at.Message = max(f.at.Message, examined)
	if changed := f.notice(&taken); changed != nil {
		changed.At, changed.Seq = h.engine.Clock.Now().Wall, seq
		news.Changed, f.at.Seq, f.told = changed, seq, time.Now()
	}
	news.At = f.at
	return news, nil
}

// notice makes the notice of the changes that were taken; nil: nothing has changed.
func (f *follow) notice(t *view.Taken) *hub.Changed {
	changed := &hub.Changed{Kinds: t.Kinds, Rooms: list(t.Rooms), Tasks: list(t.Tasks), Agents: []hub.AgentID{}, Cut: t.Cut}
	switch {
	case f.first != nil:
		f.look(nil)
		changed.Kinds, changed.Cut, f.first = append(f.first, t.Kinds...), true, nil
	case t.Every || time.Since(f.looked) >= followTick:
		changed.Agents = f.look(nil)
	case len(t.Agents) > 0:
		changed.Agents = f.look(t.Agents)
	}
	if len(changed.Agents) > hub.MaxChangedIDs {
		changed.Agents, changed.Cut = changed.Agents[:hub.MaxChangedIDs], true
	}
	if len(changed.Agents) > 0 && !slices.Contains(changed.Kinds, hub.ChangedAgents) {
		changed.Kinds = append(changed.Kinds, hub.ChangedAgents)
	}
	if len(changed.Kinds) == 0 {
		return nil
	}
	slices.Sort(changed.Kinds)
	changed.Kinds = slices.Compact(changed.Kinds)
	return changed
}

// look compares what agents do with what was told of them, of all live agents if ids is
// nil, and returns those that do something else.
func (f *follow) look(ids []hub.AgentID) []hub.AgentID {
	h, now := f.hub, f.hub.engine.Clock.Now().Wall
	changed := []hub.AgentID{}
	if ids == nil {
		f.looked = time.Now()
		live := map[hub.AgentID]bool{}
		for _, s := range h.view.Directory.Agents("") {
			ids, live[s.AgentID] = append(ids, s.AgentID), true
		}
		for id := range f.agents {
			if !live[id] {
				delete(f.agents, id)
				changed = append(changed, id)
			}
		}
	}
	for _, id := range ids {
		if id.Watcher() { // the sibling of an agent that watches is not listed
			id = hub.AgentID(string(id)[:len(id)-len(hub.WatchSuffix)])
		}
		is, live := f.doing(id, now)
		was, told := f.agents[id]
		if live == told && is == was {
			continue
		}
		if live {
			f.agents[id] = is
		} else {
			delete(f.agents, id)
		}
		changed = append(changed, id)
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

// doing returns what an agent does; false if it has no live session.
func (f *follow) doing(id hub.AgentID, now hub.Time) (doing, bool) {
	d := f.hub.view.Directory.Doing(id)
	if d.Session == nil {
		return doing{}, false
	}
	tasks := f.hub.view.Tasks.Of(id, func(*core.StoredTask) bool { return true })
	is := doing{session: d.Session.Incarnation, presence: d.Presence(now), listener: d.Listener(), tool: d.PromptTool()}
	is.activity, _ = d.Activity(tasks, now)
	if current := view.CurrentTask(tasks, view.Viewer{All: true}); current != nil {
		is.task = *current
	}
	return is, true
}

// list returns an empty list for nil.
func list[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}
