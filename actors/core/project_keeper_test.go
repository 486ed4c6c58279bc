package core_test

import (
	"errors"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestRoomSettingsAreItsMakers: what protects others in a room is changed by the operator
// and by the agent that made it, and by nobody else, in either direction.
func TestRoomSettingsAreItsMakers(t *testing.T) {
	r := newProjectRig(t)
	project, err := r.live.Create(hub.ProjectInput{Name: "Shop"}, core.StandingProved)
	require.NoError(t, err)
	id := project.Answer(r.commit(project.Draft)).ProjectID
	for _, c := range []struct {
		name  string
		maker hub.AgentID
		by    core.RoomKeeper
		may   bool
	}{
		{"Of the operator", "", core.RoomKeeper{Operator: true}, true},
		{"Of a maker", "lead", core.RoomKeeper{Agent: "lead"}, true},
		{"Of a maker, by the operator", "lead", core.RoomKeeper{Operator: true}, true},
		{"Of a maker, by another", "lead", core.RoomKeeper{Agent: "dev"}, false},
		{"Of a maker, by nobody", "lead", core.RoomKeeper{}, false},
		{"Of nobody, by nobody", "", core.RoomKeeper{}, false},
		{"Of nobody, by an agent", "", core.RoomKeeper{Agent: "dev"}, false},
	} {
		made, err := r.live.CreateRoom(hub.RoomInput{Project: string(id), Name: c.name, CreatedBy: c.maker, Force: true, ForceReason: "a test"}, core.StandingProved)
		require.NoError(t, err)
		room := made.Answer(r.commit(made.Draft))
		for _, want := range []hub.LockPolicy{hub.LocksRefuse, hub.LocksWarn} {
			d, err := r.live.SetLocks(room.RoomID, hub.LockPolicyInput{Locks: want, AgentID: c.maker}, c.by)
			if c.may != (err == nil) || !c.may && !errors.Is(err, &hub.Error{Code: hub.CodeOperatorRequired}) {
				t.Fatalf("%s: %v", c.name, err)
			}
			if c.may {
				r.commit(d.Draft)
			}
		}
	}
}
