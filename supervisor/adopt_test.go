package supervisor_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"hubcli/actors"
	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/integrations/credstore"
	"hubcli/integrations/provider"
	"hubcli/internal/maker"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/persistence"
	"hubcli/supervisor"
)

// person is a user with a data root.
func person(t *testing.T) *persistence.Maker {
	t.Helper()
	root := filepath.Join(t.TempDir(), "data")
	key, err := maker.Load(root)
	require.NoError(t, err)
	return &persistence.Maker{Key: key, Root: root}
}

// cutJournal is a journal whose disk fails after some groups.
type cutJournal struct {
	core.Journal
	left atomic.Int64
}

func (j *cutJournal) Append(g *core.Group) error {
	if j.left.Add(-1) < 0 {
		return errors.New("the disk is gone")
	}
	return j.Journal.Append(g)
}

// noted remembers that the operator would have been told.
type noted struct{ times atomic.Int64 }

func (n *noted) Notify(context.Context, hub.Notify, hub.Ask) hub.Notified {
	n.times.Add(1)
	return hub.Notified{}
}

// armed makes a store in which its maker has set everything that a hub would run, call or
// allow, and returns the secrets that its maker knows.
func armed(t *testing.T, dir string, by *persistence.Maker) (pass string, session hub.Registered, code string) {
	t.Helper()
	ctx := t.Context()
	h := testhub.Start(t, testhub.Dir(dir), testhub.With(func(c *supervisor.Config) {
		c.Maker, c.Directory, c.Credentials = by, &provider.Client{}, credstore.Keeper{}
	}))
	_, err := h.Hub.CreateProject(ctx, hub.ProjectInput{Name: "p"})
	require.NoError(t, err)
	room, err := h.Hub.CreateRoom(ctx, hub.RoomInput{Project: "p", Name: "r"})
	require.NoError(t, err)
	id := room.Row.RoomID
	invite, err := h.Hub.CreateInvite(ctx, hub.InviteInput{Project: "p", Room: "r"})
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	_, err = h.Hub.SetNotify(ctx, hub.NotifyInput{Command: []string{exe, "{question}"}, Webhook: "http://127.0.0.1:9/hook"})
	require.NoError(t, err)
	_, err = h.Hub.SetSpawnPolicy(ctx, hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: "generic", Args: []string{exe, "--", "{prompt}"}}},
		Allow:    []hub.SpawnAllowance{{RoomID: id, Harness: "generic"}}, Remote: true,
	})
	require.NoError(t, err)
	_, err = h.Hub.SetPermissionPolicy(ctx, hub.PermissionPolicyInput{On: true, Rules: []hub.PermissionRule{{Decision: hub.PermissionAllow, Tool: hub.AnyTool}}})
	require.NoError(t, err)
	_, err = h.Hub.CreateConnection(ctx, hub.ConnectionInput{ProviderID: "custom", Endpoint: "http://127.0.0.1:9/v1", NoKey: true})
	require.NoError(t, err)
	_, err = h.Hub.SetToolSurface(ctx, hub.ToolSurfaceInput{Harness: hub.Harnesses()[0], Surface: hub.SurfaceFull})
	require.NoError(t, err)
	_, err = h.Hub.AllowHost(ctx, id, hub.AllowHostInput{Host: "example.org"})
	require.NoError(t, err)
	_, err = h.Hub.BindRoom(ctx, id, hub.BindingInput{Path: t.TempDir()})
	require.NoError(t, err)
	made, err := h.Hub.CreatePassCode(ctx, hub.PassCodeInput{})
	require.NoError(t, err)
	issued, err := h.Hub.CreatePass(ctx, hub.PassInput{Code: made.Code})
	require.NoError(t, err)
	registered, err := h.Hub.Register(ctx, hub.RegisterInput{AgentID: "dev"})
	require.NoError(t, err)
	_, err = h.Hub.Ask(ctx, hub.AskInput{AgentID: "dev", Question: "may I?"})
	require.NoError(t, err)
	require.NoError(t, h.Stop())
	return issued.Row.Token, registered.Row, invite.Row.Code
}

// TestAdoptedStoreRunsAndAllowsNothing: of a store that others have made, nothing runs, is
// called or allowed, whichever start the adoption comes to its end in; what agents wrote is
// there.
func TestAdoptedStoreRunsAndAllowsNothing(t *testing.T) {
	me, other := person(t), person(t)
	dir := filepath.Join(t.TempDir(), "store")
	pass, session, code := armed(t, dir, other)
	ctx := t.Context()
	told := &noted{}
	starts := 0
	for groups := int64(0); ; groups++ {
		starts++
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		tree, err := supervisor.Start(supervisor.Config{
			Storage: dir, Listener: l, Maker: me, Adopt: starts == 1, Directory: &provider.Client{}, Credentials: credstore.Keeper{}, Notifier: told,
			Actors: func(o *actors.Options) {
				j := &cutJournal{Journal: o.Journal}
				j.left.Store(groups)
				o.Journal = j
			},
		})
		if err != nil {
			if groups > 20 {
				t.Fatalf("the adoption never ends: %v", err)
			}
			continue
		}
		_ = tree.Stop()
		break
	}
	if starts < 4 {
		t.Errorf("the adoption was cut %d times only", starts-1)
	}
	h := testhub.Start(t, testhub.Dir(dir), testhub.With(func(c *supervisor.Config) {
		c.Maker, c.Notifier, c.Directory, c.Credentials = me, told, &provider.Client{}, credstore.Keeper{}
	}))
	if h.Store.Adopting() {
		t.Error("the adoption does not end")
	}
	notify, err := h.Hub.Notify(ctx)
	require.NoError(t, err)
	spawns, err := h.Hub.SpawnPolicy(ctx)
	require.NoError(t, err)
	permissions, err := h.Hub.PermissionPolicy(ctx)
	require.NoError(t, err)
	connections, err := h.Hub.Connections(ctx)
	require.NoError(t, err)
	passes, err := h.Hub.Passes(ctx)
	require.NoError(t, err)
	surfaces, err := h.Hub.ToolSurfaces(ctx, hub.Harnesses()[0])
	require.NoError(t, err)
	room, err := h.Hub.Room(ctx, hub.RoomRef{Project: "p", Room: "r"})
	require.NoError(t, err)
	for what, kept := range map[string]bool{
		"a program that notifies": len(notify.Command) > 0 || notify.Webhook != "",
		"what may be spawned":     len(spawns.Commands) > 0 || len(spawns.Allow) > 0 || spawns.Remote,
		"rules for permissions":   permissions.On || len(permissions.Rules) > 0,
		"connections":             len(connections) > 0, "passes": len(passes) > 0,
		"a tool surface": !surfaces[0].Default, "hosts": len(room.AllowedHosts) > 0, "bound folders": len(room.Bindings) > 0,
	} {
		if kept {
			t.Errorf("%s are kept", what)
		}
	}
	if _, err := h.Hub.ProvePass(pass); err == nil {
		t.Error("a pass of its maker is in force")
	}
	if _, err := h.Hub.Resume(ctx, hub.ResumeInput{PriorSessionID: session.SessionID, ResumeKey: session.ResumeKey}); err == nil {
		t.Error("a session of its maker is resumed")
	}
	if _, err := h.Hub.PreviewInvite(ctx, code); err == nil {
		t.Error("an invite of its maker is good")
	}
	if n := told.times.Load(); n > 0 {
		t.Errorf("the operator was told %d times, by what its maker had set", n)
	}
}
