package seats

import (
	"cmp"
	"context"
	"math"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// The longest lists of a room's status.
const (
	statusSeats     = 100
	statusTasks     = 50
	statusRuns      = 20
	statusLeases    = 50
	statusDecisions = 10
	statusBytes     = view.MaxPageBytes / 4 // of seats, and of decisions
)

// RoomStatus shows the work in a room; see hub.Seats. With s seats, t live
// tasks of the room, r runs that have not ended and l leases of the room it
// costs O(s + t + r + l), and counts the unread messages of at most statusSeats
// seats.
func (s *Seats) RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	var out hub.RoomStatus
	room, err := s.view.Room(q.RoomID)
	if err != nil {
		return out, err
	}
	out.Room, out.LatestVisibleID = room, s.view.Ring.Visible()
	out.Project, _ = s.view.Project(room.ProjectID) // a room's project is never deleted
	sees, now := view.ViewerOf(ctx, q.Viewer), s.engine.Clock.Now()
	seats, err := s.seatedIn(room.RoomID, now.Wall)
	if err != nil {
		return out, err
	}
	if err := s.showSeats(&out, seats, q.All, sees, now.Wall); err != nil {
		return out, err
	}
	tasks := s.view.Tasks.InRoom(room.RoomID, func(*core.StoredTask) bool { return true })
	visible := slices.DeleteFunc(tasks, func(t core.StoredTask) bool { return !sees.Task(&t) })
	out.OpenTasks, out.OpenTaskCount = s.view.TaskRows(visible, statusTasks, sees), len(visible)
	if err := s.showLeases(&out, seats, visible, sees, now); err != nil {
		return out, err
	}
	if err := s.showRuns(&out, sees); err != nil {
		return out, err
	}
	if err := s.showDecisions(&out); err != nil {
		return out, err
	}
	if out.Spawns, err = s.spawns(room.RoomID); err != nil {
		return out, err
	}
	if q.Viewer != "" {
		out.Unread, err = s.view.Unread(q.Viewer, room.RoomID)
	}
	cutPage(&out, q.Viewer)
	return out, err
}

// cutPage leaves out what is too many bytes, and says which lists lack rows.
func cutPage(out *hub.RoomStatus, viewer hub.AgentID) {
	decisions := len(out.Decisions) // the latest; that there are others is no cut
	out.Seats, _ = answers.Fitting(out.Seats, statusBytes)
	out.Decisions, _ = answers.Fitting(out.Decisions, statusBytes)
	running := 0
	for i := range out.Runs {
		if !out.Runs[i].Status.Terminal() {
			running++
		}
	}
	room, as := string(out.Room.RoomID), string(viewer)
	for _, l := range []struct {
		name       string
		shown, all int
		call       string
	}{
		{"seats", len(out.Seats), out.SeatCount, hub.GetCall("/v1/agents", "room_id", room, "details", "true")},
		{"open_tasks", len(out.OpenTasks), out.OpenTaskCount, hub.GetCall("/v1/tasks", "room_id", room, "status", "active", "agent_id", as)},
		{"runs", running, out.RunCount, hub.GetCall("/v1/runs", "room_id", room, "agent_id", as)},
		{"claims", len(out.Claims), out.ClaimCount, hub.GetCall("/v1/claims", "room_id", room, "active_only", "true", "agent_id", as)},
		{"locks", len(out.Locks), out.LockCount, hub.GetCall("/v1/locks", "room_id", room, "active_only", "true")},
		{"decisions", len(out.Decisions), decisions, hub.GetCall("/v1/decisions", "room_id", room)},
	} {
		if l.shown < l.all {
			out.More.Add(l.name, l.call)
		}
	}
}

// showSeats shows the seats of agents that are here or have left not long ago. With
// all, it also shows those of agents that are long gone.
func (s *Seats) showSeats(out *hub.RoomStatus, seats []seated, all bool, sees view.Viewer, now hub.Time) error {
	out.Seats, out.NotListening = []hub.Seat{}, []hub.AgentID{}
	for i := range seats {
		seat := &seats[i]
		if seat.longGone {
			out.GoneCount++
		}
		if seat.longGone && !all {
			continue
		}
		out.SeatCount++
		if seat.doing.Unreachable(now) && len(out.NotListening) < statusSeats {
			out.NotListening = append(out.NotListening, seat.AgentID)
		}
		if len(out.Seats) < statusSeats {
			row, err := s.seatAs(&seat.StoredSeat, seat.doing, sees, now)
			if err != nil {
				return err
			}
			out.Seats = append(out.Seats, row)
		}
	}
	return s.countUnreadOf(out.Seats, out.Room.RoomID)
}

// showLeases shows the leases of agents with a seat, and the claims on those tasks of
// the room that the viewer may see. A claim on another task is as hidden as the task.
func (s *Seats) showLeases(out *hub.RoomStatus, seats []seated, tasks []core.StoredTask, sees view.Viewer, now core.Now) error {
	found := map[core.LeaseKey]core.Lease{}
	add := func(l *core.Lease) { found[l.LeaseKey()] = *l }
	for i := range seats {
		if err := s.view.Leases.Of(seats[i].AgentID, 0, add); err != nil {
			return err
		}
	}
	for i := range tasks {
		if err := s.view.Leases.Of("", tasks[i].Task.TaskID, add); err != nil {
			return err
		}
	}
	var claims, locks []core.Lease
	for k, l := range found {
		may, err := s.view.SeesLease(sees, &l)
		switch {
		case err != nil:
			return err
		case !may:
		case k.Space == core.SpaceClaim:
			claims = append(claims, l)
		default:
			locks = append(locks, l)
		}
	}
	out.Claims, out.ClaimCount = heldRows(claims, now), len(claims)
	out.Locks, out.LockCount = heldRows(locks, now), len(locks)
	return nil
}

// heldRows shows the oldest leases.
func heldRows(leases []core.Lease, now core.Now) []hub.HeldRow {
	slices.SortFunc(leases, func(a, b core.Lease) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Fence, b.Fence))
	})
	rows := make([]hub.HeldRow, 0, min(len(leases), statusLeases))
	for i := 0; i < len(leases) && i < statusLeases; i++ {
		l := &leases[i]
		rows = append(rows, hub.HeldRow{
			Key: cmp.Or(l.Given, l.Key), AgentID: l.Agent, TaskMessageID: core.Optional(l.Task),
			AgeSec: float64(now.Wall-l.Since) / 1000, ExpiresInSec: float64(l.Deadline-now.HubMS) / 1000,
		})
	}
	return rows
}

// showRuns shows the runs that have not ended, then those that ended last.
func (s *Seats) showRuns(out *hub.RoomStatus, sees view.Viewer) error {
	running := s.view.Runs.List(out.Room.RoomID)
	out.RunCount, out.Runs = len(running), []hub.Run{}
	shown := running[:min(len(running), statusRuns)]
	if left := statusRuns - len(shown); left > 0 {
		ended, err := s.view.StoredRuns(out.Room.RoomID, math.MaxUint64, left, func(r *core.StoredRun) bool {
			return r.Run.Status.Terminal() && !slices.ContainsFunc(shown, func(s core.StoredRun) bool { return s.Run.RunID == r.Run.RunID })
		})
		if err != nil {
			return err
		}
		shown = append(shown, ended...)
	}
	for _, run := range shown {
		row, err := s.view.RunRow(run, sees)
		if err != nil {
			return err
		}
		out.Runs = append(out.Runs, row)
	}
	return nil
}

// showDecisions shows the latest decisions.
func (s *Seats) showDecisions(out *hub.RoomStatus) error {
	out.Decisions = []hub.Decision{}
	return view.LatestRows(s.rows, core.TableDecision, core.TableDecisionByRoom, out.Room.RoomID, math.MaxUint64, func(d hub.Decision) bool {
		out.Decisions = append(out.Decisions, d)
		return len(out.Decisions) < statusDecisions
	})
}
