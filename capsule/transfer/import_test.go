package transfer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestPlanTellsOfRoomsWithTheSameSlug: by such a slug alone no room is found once the project
// is here, and the plan says how it is written then.
func TestPlanTellsOfRoomsWithTheSameSlug(t *testing.T) {
	r := newSealRig(t)
	r.post(t, "hello")
	in := r.input("rooms.hubpack")
	r.export(t, in)
	ready := func() hub.CapsuleImportPlan {
		t.Helper()
		p, err := r.imports.PlanImport(r.ctx, hub.CapsuleImportInput{Path: in.Out})
		require.NoError(t, err)
		require.Eventually(t, "the plan is ready", func() bool {
			p, err = r.imports.ImportPlan(r.ctx, p.PlanID)
			return err != nil || p.State != hub.CapsulePlanning
		})
		require.NoError(t, err)
		return p
	}
	p := ready()
	if want := []string{r.room.Slug}; !slices.Equal(p.SharedRooms, want) {
		t.Fatalf("the plan tells of %q, want %q", p.SharedRooms, want)
	}
	if want := "1 slug that rooms here have, too: " + r.room.Slug + "; from then on write " + p.Slug + "/" + r.room.Slug; !strings.Contains(p.Prompt, want) {
		t.Errorf("the prompt does not say %q:\n%s", want, p.Prompt)
	}
	_, err := hub.FindRoom(r.ctx, r.Hub.Hub, hub.RoomRef{Room: r.room.Slug})
	require.NoError(t, err)
	confirm := func(p *hub.CapsuleImportPlan) error {
		_, err := r.imports.ConfirmImport(r.ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: p.PlanDigest})
		return err
	}
	require.NoError(t, confirm(&p))
	require.Eventually(t, "the project is there", func() bool {
		p, err = r.imports.ImportPlan(r.ctx, p.PlanID)
		return err != nil || p.State != hub.CapsuleImporting
	})
	if _, err := hub.FindRoom(r.ctx, r.Hub.Hub, hub.RoomRef{Room: r.room.Slug}); !errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) {
		t.Errorf("the slug alone finds a room: %v", err)
	}
	_, err = hub.FindRoom(r.ctx, r.Hub.Hub, hub.RoomRef{Room: p.Slug + "/" + r.room.Slug})
	require.NoError(t, err)
}
