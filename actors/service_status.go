package actors

import (
	"cmp"
	"context"
	"math"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/spawns"
	"hubcli/actors/view"
	"hubcli/hub"
)

// How long the lists of a room's status are at most.
const (
	statusSeats     = 100
	statusTasks     = 50
	statusRuns      = 20
	statusLeases    = 50
	statusDecisions = 10
)

// RoomStatus shows what goes on in a room; see hub.Seats. With s seats, t live
// tasks of the room, r runs that have not ended and l leases of the room it costs
// O(s + t + r + l), and what is unread of at most statusSeats seats.
func (h *Hub) RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	var out hub.RoomStatus
	room, err := h.view.Room(q.RoomID)
	if err != nil {
		return out, err
	}
	out.Room, out.LatestVisibleID = room, h.view.Ring.Visible()
	out.Project, _ = h.view.Project(room.ProjectID) // a room's project is never deleted
	sees, now := view.ViewerOf(ctx, q.Viewer), h.engine.Clock.Now()
	seats, err := h.seatedIn(room.RoomID, now.Wall)
	if err != nil {
		return out, err
	}
	if err := h.showSeats(&out, seats, q.All, sees, now.Wall); err != nil {
		return out, err
	}
	tasks := h.view.Tasks.InRoom(room.RoomID, func(*core.StoredTask) bool { return true })
	visible := slices.DeleteFunc(tasks, func(t core.StoredTask) bool { return !sees.Task(&t) })
	out.OpenTasks, out.OpenTaskCount = h.view.TaskRows(visible, statusTasks, sees), len(visible)
	if err := h.showLeases(&out, seats, visible, sees, now); err != nil {
		return out, err
	}
	if err := h.showRuns(&out, sees); err != nil {
		return out, err
	}
	if out.Decisions, _, err = h.Decisions(ctx, hub.DecisionsQuery{RoomID: room.RoomID, Limit: statusDecisions}); err != nil {
		return out, err
	}
	if out.Spawns, err = spawns.In(h.rows, room.RoomID); err != nil {
		return out, err
	}
	if q.Viewer != "" {
		out.Unread, err = h.view.Unread(q.Viewer, room.RoomID)
	}
	return out, err
}

// showSeats shows who is in the room, and who has left it not long ago; all shows
// who is long gone too.
func (h *Hub) showSeats(out *hub.RoomStatus, seats []seated, all bool, sees view.Viewer, now hub.Time) error {
	out.Seats, out.NotListening = []hub.Seat{}, []hub.AgentID{}
	for i := range seats {
		s := &seats[i]
		if s.longGone {
			out.GoneCount++
		}
		if s.longGone && !all {
			continue
		}
		out.SeatCount++
		if s.doing.Unreachable(now) && len(out.NotListening) < statusSeats {
			out.NotListening = append(out.NotListening, s.AgentID)
		}
		if len(out.Seats) < statusSeats {
			row, err := h.seatAs(&s.StoredSeat, s.doing, sees, now)
			if err != nil {
				return err
			}
			out.Seats = append(out.Seats, row)
		}
	}
	return h.countUnreadOf(out.Seats, out.Room.RoomID)
}

// showLeases shows what agents with a seat hold, and claims on those tasks of the
// room that the viewer may see. What a claim of a seat says of another task is left
// out.
func (h *Hub) showLeases(out *hub.RoomStatus, seats []seated, tasks []core.StoredTask, sees view.Viewer, now core.Now) error {
	found := map[core.LeaseKey]core.Lease{}
	add := func(l *core.Lease) { found[l.LeaseKey()] = *l }
	for i := range seats {
		if err := h.view.Leases.Of(seats[i].AgentID, 0, add); err != nil {
			return err
		}
	}
	for i := range tasks {
		if err := h.view.Leases.Of("", tasks[i].Task.TaskID, add); err != nil {
			return err
		}
	}
	var claims, locks []core.Lease
	for k, l := range found {
		if k.Space == core.SpaceClaim {
			claims = append(claims, l)
		} else {
			locks = append(locks, l)
		}
	}
	out.Claims, out.ClaimCount = heldRows(claims, now), len(claims)
	out.Locks, out.LockCount = heldRows(locks, now), len(locks)
	for i := range out.Claims {
		if err := h.view.HideTask(&out.Claims[i], sees); err != nil {
			return err
		}
	}
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

// showRuns shows the runs that have not ended and, as far as there is room, those
// that ended last.
func (h *Hub) showRuns(out *hub.RoomStatus, sees view.Viewer) error {
	running := h.view.Runs.List(out.Room.RoomID)
	out.RunCount, out.Runs = len(running), []hub.Run{}
	shown := running[:min(len(running), statusRuns)]
	if left := statusRuns - len(shown); left > 0 {
		ended, err := h.view.StoredRuns(out.Room.RoomID, math.MaxUint64, left, func(r *core.StoredRun) bool {
			return r.Run.Status.Terminal() && !slices.ContainsFunc(shown, func(s core.StoredRun) bool { return s.Run.RunID == r.Run.RunID })
		})
		if err != nil {
			return err
		}
		shown = append(shown, ended...)
	}
	for _, run := range shown {
		row, err := h.view.RunRow(run, sees)
		if err != nil {
			return err
		}
		out.Runs = append(out.Runs, row)
	}
	return nil
}
