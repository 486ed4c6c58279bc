package core_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// flood asks for places under invented names until one is refused, and returns how many it
// got.
func flood(t *testing.T, most int, ask func(agent hub.AgentID) error) int {
	t.Helper()
	for i := range most + 1 {
		if err := ask(hub.AgentID(fmt.Sprint("made-up-", i))); err != nil {
			return i
		}
	}
	t.Fatalf("a flood got more than %d places", most)
	return 0
}

// TestLastPlacesAreKept: a caller leaves places for agents that the hub knows better,
// however many names it uses, and the operator always gets one. This holds for everything
// that has a limit.
func TestLastPlacesAreKept(t *testing.T) {
	for name, s := range shared() {
		t.Run(name, func(t *testing.T) {
			ask := s.start(t)
			by := func(standing core.Standing) func(hub.AgentID) error {
				return func(agent hub.AgentID) error { return ask(agent, standing) }
			}
			unknown := flood(t, s.all, by(core.StandingUnknown))
			known := unknown + flood(t, s.all, by(core.StandingKnown))
			if unknown != s.all/2 || known != s.all*3/4 {
				t.Errorf("unknown names take %d places of %d, and known ones %d more", unknown, s.all, known-unknown)
			}
			if err := ask("honest", core.StandingUnknown); codeOf(err) != s.code {
				t.Errorf("an unknown name behind the flood: %v", err)
			}
			require.NoError(t, ask("honest", core.StandingProved))
			flood(t, s.all, by(core.StandingProved))
			if err := ask("late", core.StandingProved); codeOf(err) != s.code {
				t.Errorf("all places are taken, and there is one more: %v", err)
			}
			require.NoError(t, ask(hub.AgentOperator, core.StandingOperator))
		})
	}
}

// TestOneCreatorHasAShare: one name gets a part of the places, and more of them the better
// the hub knows it. The refusal says what it has and what all have.
func TestOneCreatorHasAShare(t *testing.T) {
	for name, s := range shared() {
		if s.each == [3]int{} {
			continue // a name can have one of these only
		}
		t.Run(name, func(t *testing.T) {
			for standing, each := range s.each {
				ask := s.start(t)
				for range each {
					require.NoError(t, ask("looper", core.Standing(standing)))
				}
				err := ask("looper", core.Standing(standing))
				var e *hub.Error
				if !errors.As(err, &e) || e.Code != s.code || e.Fix == "" {
					t.Fatalf("one place more than %d: %v", each, err)
				}
				if e.Detail["limit"] != each || e.Detail["own"] != each || e.Detail["taken"] != each || e.Detail["places"] != s.all {
					t.Errorf("the refusal says %v", e.Detail)
				}
				require.NoError(t, ask("honest", core.StandingUnknown))
			}
		})
	}
}

// places is one kind of things that have a limit.
type places struct {
	all  int
	each [3]int
	code hub.Code
	// start returns a function that takes a place.
	start func(t *testing.T) func(agent hub.AgentID, by core.Standing) error
}

func parts(all int) [3]int { return [3]int{all / 10, all / 5, all / 3} }

func shared() map[string]places {
	at := func(n *hub.Seq) core.Position { *n++; return core.Position{Seq: *n} }
	return map[string]places{
		"projects": {hub.MaxProjects, parts(hub.MaxProjects), hub.CodeLimitReached, func(*testing.T) func(hub.AgentID, core.Standing) error {
			p, n := core.NewProjects(), hub.Seq(0)
			return func(agent hub.AgentID, by core.Standing) error {
				d, err := p.Create(hub.ProjectInput{Name: fmt.Sprint("project ", n), CreatedBy: agent}, by)
				return applied(p, d.Draft, at(&n), err)
			}
		}},
		"rooms of a project": {hub.MaxProjectRooms, parts(hub.MaxProjectRooms), hub.CodeLimitReached, func(t *testing.T) func(hub.AgentID, core.Standing) error {
			p, n := core.NewProjects(), hub.Seq(0)
			d, err := p.Create(hub.ProjectInput{Name: "Shop"}, core.StandingUnknown)
			require.NoError(t, applied(p, d.Draft, at(&n), err))
			return func(agent hub.AgentID, by core.Standing) error {
				d, err := p.CreateRoom(hub.RoomInput{Project: "shop", Name: fmt.Sprint("room ", n), Force: true, CreatedBy: agent}, by)
				return applied(p, d.Draft, at(&n), err)
			}
		}},
		"invites": {hub.MaxRoomInvites, parts(hub.MaxRoomInvites), hub.CodeRoomFull, func(*testing.T) func(hub.AgentID, core.Standing) error {
			r, n := core.NewRoom("r_1"), hub.Seq(0)
			return func(agent hub.AgentID, by core.Standing) error {
				d, err := r.Invite(core.InviteCommand{In: hub.InviteInput{By: agent, TTLSec: 60, MaxUses: 1}, By: by}, core.Now{})
				return applied(r, d.Draft, at(&n), err)
			}
		}},
		"seats by invites": {hub.MaxRoomSeats, parts(hub.MaxRoomSeats), hub.CodeRoomFull, func(t *testing.T) func(hub.AgentID, core.Standing) error {
			r, n := core.NewRoom("r_1"), hub.Seq(0)
			return func(maker hub.AgentID, by core.Standing) error {
				invite := hub.InviteID(core.IDAt(core.PrefixInvite, n+1))
				d, err := r.Invite(core.InviteCommand{In: hub.InviteInput{By: maker, TTLSec: 60, MaxUses: 1}, By: core.StandingOperator}, core.Now{})
				require.NoError(t, applied(r, d.Draft, at(&n), err))
				a, err := r.Accept(core.AcceptCommand{
					Invite: invite, Wanted: hub.AgentID(fmt.Sprint("joiner-", n)),
					Taken: func(hub.AgentID) bool { return false }, Gone: func(hub.AgentID) bool { return false },
					Standing: func(hub.AgentID, bool) core.Standing { return by },
				}, core.Now{})
				if err != nil { // the invite is not needed any more
					d, end := r.Revoke(invite, core.Now{})
					require.NoError(t, applied(r, d.Draft, at(&n), end))
				}
				return applied(r, a.Draft, at(&n), err)
			}
		}},
		"seats for acting": {hub.MaxRoomSeats, [3]int{}, hub.CodeRoomFull, func(*testing.T) func(hub.AgentID, core.Standing) error {
			r, n := core.NewRoom("r_1"), hub.Seq(0)
			return func(agent hub.AgentID, by core.Standing) error {
				d, err := r.SeatActing(core.ActingCommand{
					Agent: agent + hub.AgentID(fmt.Sprint("-", n)), By: by, LongGone: func(hub.AgentID) bool { return false },
				}, core.Now{})
				return applied(r, d.Draft, at(&n), err)
			}
		}},
		"questions": {hub.MaxOpenAsks, [3]int{10, 25, 50}, hub.CodeLimitReached, func(*testing.T) func(hub.AgentID, core.Standing) error {
			a, n := core.RestoreAsks(hub.PermissionPolicy{}, nil), hub.Seq(0)
			return func(agent hub.AgentID, by core.Standing) error {
				d, err := a.Ask(core.AskCommand{In: hub.AskInput{AgentID: agent, Question: "x"}, By: by}, core.Now{})
				return applied(a, d.Draft, at(&n), err)
			}
		}},
		"runs": {hub.MaxLiveRuns, parts(hub.MaxLiveRuns), hub.CodeLimitReached, func(*testing.T) func(hub.AgentID, core.Standing) error {
			tasks, n := core.NewTasks(), hub.Seq(0)
			return func(agent hub.AgentID, by core.Standing) error {
				d, err := tasks.StartRun(core.StartRunCommand{In: hub.RunInput{Title: "x", CreatedBy: agent}, Standing: by}, core.Now{}, nil)
				return applied(tasks, d.Draft, at(&n), err)
			}
		}},
	}
}

func applied(m core.Machine, d core.Draft, at core.Position, err error) error {
	if err != nil {
		return err
	}
	for _, f := range d.Facts {
		m.Apply(f, at, nil)
	}
	return nil
}

// TestMemoryOfRoomsIsBounded: rooms with the longest texts are bounded by their bytes: those of
// one creator, those of all, and with archived ones, which the operator makes too, all that a
// store keeps.
func TestMemoryOfRoomsIsBounded(t *testing.T) {
	p, n := core.NewProjects(), hub.Seq(0)
	text := strings.Repeat("𝔁", hub.MaxTopicChars)
	create := func(agent hub.AgentID, by core.Standing) error {
		n++
		d, err := p.CreateRoom(hub.RoomInput{
			Project: fmt.Sprint("project-", n%100), Name: fmt.Sprint("room ", n), Topic: text, Force: true, ForceReason: text, CreatedBy: agent,
		}, by)
		return applied(p, d.Draft, core.Position{Seq: n}, err)
	}
	for i := range 100 {
		n++
		d, err := p.Create(hub.ProjectInput{Name: fmt.Sprint("Project ", i), Slug: fmt.Sprint("project-", i)}, core.StandingOperator)
		require.NoError(t, applied(p, d.Draft, core.Position{Seq: n}, err))
	}
	each, whole := 4*len(text), 4*len(text)+(2<<10) // a room that is like no other has no reason
	got := flood(t, hub.MaxRooms, func(hub.AgentID) error { return create("looper", core.StandingUnknown) })
	if all := hub.MaxRoomBytes / 10; got < all/whole || got > 2*all/each {
		t.Errorf("one creator has %d rooms with the longest texts", got)
	}
	got = flood(t, hub.MaxRooms, func(agent hub.AgentID) error { return create(agent, core.StandingUnknown) })
	if all := hub.MaxRoomBytes * 4 / 10; got < all/whole || got > 2*all/each {
		t.Errorf("invented names have %d more", got)
	}
	got = flood(t, hub.MaxKeptRooms, func(hub.AgentID) error { return create("operator", core.StandingOperator) })
	if all := hub.MaxKeptRoomBytes - hub.MaxRoomBytes/2; got < all/whole || got > 2*all/each {
		t.Errorf("the operator has %d", got)
	}
}

// TestArchivedPlacesAreFree: an archived project or room takes no place, but the store does
// not keep any number of them.
func TestArchivedPlacesAreFree(t *testing.T) {
	p, n := core.NewProjects(), hub.Seq(0)
	create := func(by core.Standing) error {
		n++
		d, err := p.Create(hub.ProjectInput{Name: fmt.Sprint("project ", n), CreatedBy: "looper"}, by)
		return applied(p, d.Draft, core.Position{Seq: n}, err)
	}
	for range hub.MaxProjects / 10 {
		require.NoError(t, create(core.StandingUnknown))
	}
	if err := create(core.StandingUnknown); codeOf(err) != hub.CodeLimitReached {
		t.Fatalf("one more than its share: %v", err)
	}
	d, err := p.Archive("project-1", true)
	require.NoError(t, applied(p, d.Draft, core.Position{Seq: n}, err))
	require.NoError(t, create(core.StandingUnknown))
	require.NoError(t, create(core.StandingOperator))
	for range hub.MaxKeptProjects - len(p.ProjectIndex().Projects()) {
		n++
		p.Apply(&core.ProjectCreated{Slug: fmt.Sprint("project-", n), Name: fmt.Sprint("project ", n)}, core.Position{Seq: n}, nil)
	}
	if err := create(core.StandingOperator); codeOf(err) != hub.CodeLimitReached {
		t.Errorf("more projects than a store keeps: %v", err)
	}
	gone, err := p.DeleteProject(hub.ProjectID(core.IDAt(core.PrefixProject, 1)))
	require.NoError(t, applied(p, gone.Draft, core.Position{Seq: n}, err))
	if err := create(core.StandingOperator); err != nil {
		t.Errorf("the place of a project that was deleted: %v", err)
	}
}
