package actors

import (
	"context"
	"fmt"

	"hubcli/hub"
)

// pagers are all lists; TestEveryListIsWalked looks that none is missing.
var pagers = map[string]func(r *rig) pager{
	"Claims":      func(r *rig) pager { return claimPager(r, false) },
	"Claims/held": func(r *rig) pager { return claimPager(r, true) },
	"Locks":       lockPager,
	"Agents":      agentPager,
	"Channels": func(r *rig) pager {
		return pager{
			page: pageOf(r.Channels, func(n int) hub.ChannelsQuery { return hub.ChannelsQuery{Prefix: "x", Limit: n} }, func(c *hub.Channel) string { return string(c.Name) }),
			add: func(n int) string {
				r.channel(hub.ChannelName(shuffled("x", n)))
				return shuffled("x", n)
			},
		}
	},
	"Tasks":      func(r *rig) pager { return taskPager(r, false) },
	"Tasks/live": func(r *rig) pager { return taskPager(r, true) },
	"Threads":    threadPager,
	"Runs":       runPager,
	"Projects": func(r *rig) pager {
		return pager{
			page: pageOf(r.Projects, func(n int) hub.ProjectsQuery { return hub.ProjectsQuery{Limit: n} }, func(p *hub.Project) string { return p.Slug }),
			add: func(n int) string {
				return must(r.CreateProject(context.Background(), hub.ProjectInput{Name: shuffled("p", n)})).Row.Slug
			},
		}
	},
	"Rooms":            roomPager,
	"Decisions":        decisionPager,
	"Artifacts":        func(r *rig) pager { return artifactPager(r, false) },
	"Artifacts/latest": func(r *rig) pager { return artifactPager(r, true) },
	"Invites":          invitePager,
	"Recall":           memoryPager,
	"Asks":             askPager,
	"Undelivered":      undeliveredPager,
}

// shuffled is a name that does not sort by its number.
func shuffled(prefix string, n int) string { return fmt.Sprintf("%s%03d", prefix, n*619%997) }

func askPager(r *rig) pager {
	query := func(n int) hub.AsksQuery { return hub.AsksQuery{AgentID: "ann", Limit: n} }
	return pager{
		page: pageOf(r.Asks, query, func(a *hub.Ask) string { return a.Question }),
		add: func(n int) string {
			// Closed at once: an agent may have only so many open ones.
			q := r.ask(hub.AskInput{AgentID: "ann", Question: shuffled("q", n)})
			must(r.WithdrawAsk(context.Background(), q.AskID, hub.AskWithdrawInput{AgentID: "ann"}))
			return q.Question
		},
	}
}

func undeliveredPager(r *rig) pager {
	list := func(ctx context.Context, q hub.UndeliveredQuery) ([]hub.Undelivered, hub.Cursor, error) {
		return r.Undelivered(asOperator(ctx), q)
	}
	write := func(name string) { r.post(hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentID(name), Body: "x"}) }
	return pager{
		page: pageOf(list, func(n int) hub.UndeliveredQuery { return hub.UndeliveredQuery{Limit: n} }, func(u *hub.Undelivered) string { return string(u.ToAgent) }),
		add: func(n int) string {
			write(shuffled("u", n))
			return shuffled("u", n)
		},
		touch:  write,
		remove: func(name string) { r.register(hub.AgentID(name)) },
	}
}

func claimPager(r *rig, held bool) pager {
	owner := hub.AgentID("ann")
	query := func(n int) hub.LeasesQuery { return hub.LeasesQuery{ActiveOnly: held, Limit: n} }
	p := pager{
		page: pageOf(r.Claims, query, func(c *hub.Claim) string { return string(c.ClaimKey) }),
		add: func(n int) string {
			r.claim(owner, hub.ClaimKey(shuffled("k", n)), 3600)
			return shuffled("k", n)
		},
	}
	release := func(name string) { r.release(owner, hub.ClaimKey(name)) }
	if held {
		p.remove = release
		p.touch = func(name string) { r.claim(owner, hub.ClaimKey(name), 7200) }
		return p
	}
	free := map[string]bool{}
	p.touch = func(name string) { // a key that changes between held and free stays in the list
		if free[name] {
			r.claim(owner, hub.ClaimKey(name), 3600)
		} else {
			release(name)
		}
		free[name] = !free[name]
	}
	return p
}

func lockPager(r *rig) pager {
	in := func(name string) hub.LockInput { return hub.LockInput{FilePath: name, AgentID: "ann", TTLSec: 3600} }
	return pager{
		page: pageOf(r.Locks, func(n int) hub.LeasesQuery { return hub.LeasesQuery{ActiveOnly: true, Prefix: `.\src\`, Limit: n} },
			func(l *hub.Lock) string { return l.FilePath }),
		add: func(n int) string { // its order is that of the canonical form
			name := []string{"./", "src/../", "", `.\\`}[n%4] + shuffled("src/f", n)
			must(r.Lock(context.Background(), in(name)))
			return name
		},
		remove: func(name string) {
			must(r.ReleaseLock(context.Background(), hub.LockHoldInput{FilePath: name, AgentID: "ann"}))
		},
		touch: func(name string) { must(r.Lock(context.Background(), in(name))) },
	}
}

func agentPager(r *rig) pager {
	sessions := map[string]hub.SessionID{}
	p := pager{
		page: pageOf(r.Agents, func(n int) hub.AgentsQuery { return hub.AgentsQuery{Limit: n} }, func(s *hub.LiveAgent) string { return string(s.AgentID) }),
		touch: func(name string) {
			sessions[name] = r.register(hub.AgentID(name)).SessionID
		},
		remove: func(name string) { must(r.CloseSession(context.Background(), sessions[name], "")) },
	}
	p.add = func(n int) string {
		p.touch(shuffled("a", n))
		return shuffled("a", n)
	}
	return p
}

func taskPager(r *rig, live bool) pager {
	ids := map[string]hub.TaskID{}
	ended := map[string]bool{}
	end := func(name string) {
		if !ended[name] {
			r.endTask(ids[name], hub.TaskDone)
			ended[name] = true
		}
	}
	p := pager{
		page: pageOf(r.Tasks, func(n int) hub.TasksQuery { return hub.TasksQuery{Active: live, CreatedBy: "ann", Limit: n} }, func(t *hub.Task) string { return t.Title }),
		add: func(n int) string {
			name := fmt.Sprint("task ", n)
			ids[name] = r.task(hub.PostInput{FromAgent: "ann", Body: name})
			r.task(hub.PostInput{FromAgent: "bob", ToAgent: "eve", Body: "hidden"})
			return name
		},
	}
	if live {
		p.remove = end
	} else {
		p.touch = end
	}
	return p
}

func threadPager(r *rig) pager {
	say := func(name string) {
		r.post(hub.PostInput{FromAgent: "ann", ThreadID: hub.ThreadID(name), Body: "x"})
		r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", ThreadID: hub.ThreadID(name), Body: "to bob"})
		r.post(hub.PostInput{FromAgent: "eve", ToAgent: "mallory", ThreadID: "hidden", Body: "x"})
	}
	return pager{
		page: pageOf(r.Threads, func(n int) hub.ThreadsQuery { return hub.ThreadsQuery{Viewer: "bob", Limit: n} },
			func(s *hub.ThreadSummary) string { return string(s.ThreadID) }),
		add: func(n int) string {
			say(shuffled("t", n))
			return shuffled("t", n)
		},
		touch: say,
	}
}

func runPager(r *rig) pager {
	return pager{
		page: pageOf(r.Runs, func(n int) hub.RunsQuery { return hub.RunsQuery{Active: n%2 == 0, Limit: n} }, func(run *hub.Run) string { return run.Title }),
		add: func(n int) string {
			r.runNamed(shuffled("run", n))
			return shuffled("run", n)
		},
	}
}

func roomPager(r *rig) pager {
	for _, name := range []string{"one", "two"} {
		must(r.CreateProject(context.Background(), hub.ProjectInput{Name: name}))
	}
	return pager{
		page: pageOf(r.Rooms, func(n int) hub.RoomsQuery { return hub.RoomsQuery{Limit: n} }, func(room *hub.Room) string { return string(room.RoomID) }),
		add: func(n int) string { // two rooms of each slug
			in := hub.RoomInput{Project: []string{"one", "two"}[n%2], Name: shuffled("room", n/2), Force: true, ForceReason: "a test"}
			return string(must(r.CreateRoom(context.Background(), in)).Row.RoomID)
		},
	}
}

func decisionPager(r *rig) pager {
	room := r.newRoom("Decisions").RoomID
	return pager{
		page: pageOf(r.Decisions, func(n int) hub.DecisionsQuery { return hub.DecisionsQuery{RoomID: room, Limit: n} }, func(d *hub.Decision) string { return d.Title }),
		add: func(n int) string {
			in := hub.DecisionInput{RoomID: room, Title: shuffled("d", n), By: "ann"}
			return must(r.AddDecision(context.Background(), in)).Row.Title
		},
	}
}

// artifactPager lists titles by their latest version, or every version.
func artifactPager(r *rig, latest bool) pager {
	room, text := r.newRoom("Artifacts").RoomID, "x"
	write := func(name string) {
		must(r.AddArtifact(context.Background(), hub.ArtifactInput{RoomID: room, Title: name, Kind: "k", Body: &text}))
	}
	p := pager{
		page: pageOf(r.Artifacts, func(n int) hub.ArtifactsQuery {
			return hub.ArtifactsQuery{RoomID: []hub.RoomID{room, ""}[n%2], Latest: latest, Limit: n}
		}, func(a *hub.Artifact) string { return a.Title }),
		add: func(n int) string {
			write(shuffled("a", n))
			return shuffled("a", n)
		},
	}
	if latest {
		p.touch = write
	}
	return p
}

func invitePager(r *rig) pager {
	room := r.newRoom("Invites").RoomID
	return pager{
		page: pageOf(r.Invites, func(n int) hub.InvitesQuery { return hub.InvitesQuery{Room: []string{string(room), ""}[n%2], Limit: n} }, func(i *hub.Invite) string { return string(i.InviteID) }),
		add: func(int) string {
			in := hub.InviteInput{Project: "rooms", Room: string(room), TTLSec: 3600, MaxUses: 1}
			return string(must(r.CreateInvite(context.Background(), in)).Row.InviteID)
		},
		touch: func(name string) { must(r.RevokeInvite(context.Background(), name)) },
	}
}

// memoryPager lists what a room and its project keep in mind, by key.
func memoryPager(r *rig) pager {
	room, version := r.newRoom("Memory").RoomID, 0
	scope := func(name string) hub.MemoryScope {
		if name[len(name)-1]%2 == 0 {
			return hub.ScopeProject
		}
		return hub.ScopeRoom
	}
	keep := func(name, text string) {
		must(r.Remember(context.Background(), hub.MemoryInput{RoomID: room, Key: name, Text: text, Scope: scope(name), By: "ann"}))
	}
	write := func(name string) {
		version++
		keep(name, fmt.Sprint("version ", version))
	}
	return pager{
		page: pageOf(r.Recall, func(n int) hub.MemoryQuery { return hub.MemoryQuery{RoomID: room, Limit: n} }, func(m *hub.Memory) string { return m.Key }),
		add: func(n int) string {
			write(shuffled("m", n))
			return shuffled("m", n)
		},
		touch:  write,
		remove: func(name string) { keep(name, "") },
	}
}
