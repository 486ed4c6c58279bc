package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestAllowHost: hosts are kept sorted, each once, up to a limit, and a change that is none
// is no fact. They are there after a restart.
func TestAllowHost(t *testing.T) {
	r := newProjectRig(t)
	p, err := r.project(hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	room, err := r.room(hub.RoomInput{Project: p.Slug, Name: "Checkout"})
	require.NoError(t, err)
	change := func(host hub.AllowedHost, remove bool) (hub.Room, int, error) {
		d, err := r.live.AllowHost(room.RoomID, hub.AllowHostInput{Host: host, Remove: remove})
		if err != nil {
			return hub.Room{}, 0, err
		}
		return d.Answer(r.commit(d.Draft)), len(d.Facts), nil
	}
	for i, c := range []struct {
		host   hub.AllowedHost
		remove bool
		facts  int
		want   []hub.AllowedHost
	}{
		{"localhost:3000", false, 1, []hub.AllowedHost{"localhost:3000"}},
		{"dev.test", false, 1, []hub.AllowedHost{"dev.test", "localhost:3000"}},
		{"dev.test", false, 0, []hub.AllowedHost{"dev.test", "localhost:3000"}},
		{"other.test", true, 0, []hub.AllowedHost{"dev.test", "localhost:3000"}},
		{"dev.test", true, 1, []hub.AllowedHost{"localhost:3000"}},
	} {
		got, facts, err := change(c.host, c.remove)
		if err != nil || facts != c.facts || !slices.Equal(got.AllowedHosts, c.want) {
			t.Errorf("change %d: %v with %d facts, %v", i, got.AllowedHosts, facts, err)
		}
		r.restart()
	}
	for n := range hub.MaxAllowedHosts - 1 {
		_, _, err := change(hub.AllowedHost(fmt.Sprintf("h%d.test", n)), false)
		require.NoError(t, err)
	}
	var refused *hub.Error
	if _, _, err := change("more.test", false); !errors.As(err, &refused) || refused.Code != hub.CodeLimitReached {
		t.Errorf("one host too many: %v", err)
	}
	if _, err := r.live.AllowHost("r_none", hub.AllowHostInput{Host: "x"}); !errors.As(err, &refused) || refused.Code != hub.CodeRoomNotFound {
		t.Errorf("a room that is not there: %v", err)
	}
}
