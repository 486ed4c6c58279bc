package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// noEngine stands in for the engine: it counts the steps, and takes a second for each.
type noEngine struct {
	mu    sync.Mutex
	steps []hub.BrowseAction
	hosts []hub.AllowedHost
	err   error
}

func (d *noEngine) Step(ctx context.Context, room hub.RoomID, hosts []hub.AllowedHost, in *hub.BrowseInput) (hub.BrowsePage, *hub.Picture, error) {
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps, d.hosts = append(d.steps, in.Action), hosts
	var picture *hub.Picture
	if in.Action == hub.BrowseScreenshot {
		picture = &hub.Picture{Data: []byte("\x89PNG"), ContentType: "image/png"}
	}
	return hub.BrowsePage{RoomID: room, Action: in.Action, URL: fmt.Sprint("http://x/", len(d.steps)), Notes: []string{}}, picture, d.err
}

func browsing(t *testing.T) (*rig, *noEngine, hub.Room) {
	d := &noEngine{}
	r := start(t, newMemStore(), func(o *Options) { o.Browser = d })
	return r, d, r.makeRoom("ops")
}

func codeIn(err error) hub.Code {
	var refused *hub.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// TestOneAgentDrivesAPage: the first step takes the claim, which the room shows; another
// agent is refused until it is released or over.
func TestOneAgentDrivesAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d, room := browsing(t)
		defer r.stop()
		step := func(agent hub.AgentID, action hub.BrowseAction) (hub.BrowsePage, error) {
			return r.Browse(t.Context(), room.RoomID, hub.BrowseInput{AgentID: agent, Action: action, URL: "http://x/"})
		}
		page, err := step("ann", hub.BrowseOpen)
		if err != nil || page.ExpiresAt == nil {
			t.Fatalf("%+v, %v", page, err)
		}
		status, err := r.RoomStatus(t.Context(), hub.StatusQuery{RoomID: room.RoomID})
		if err != nil || len(status.Claims) != 1 || status.Claims[0].Key != "browser:"+string(room.RoomID) || status.Claims[0].AgentID != "ann" {
			t.Errorf("the room shows %+v, %v", status.Claims, err)
		}
		if _, err := step("ben", hub.BrowseClose); codeIn(err) != hub.CodeBrowserBusy {
			t.Errorf("ben drives too: %v", err)
		}
		if page, err := step("ann", hub.BrowseClose); err != nil || page.ExpiresAt != nil {
			t.Errorf("after close: %+v, %v", page, err)
		}
		if _, err := step("ben", hub.BrowseOpen); err != nil {
			t.Errorf("the page was released: %v", err)
		}
		time.Sleep((hub.BrowseClaimSec + 1) * time.Second)
		shot, err := step("ann", hub.BrowseScreenshot)
		if err != nil || shot.Artifact == nil || shot.Artifact.RoomID != room.RoomID || shot.Artifact.ContentType != "image/png" {
			t.Errorf("the claim of ben is over: %+v, %v", shot, err)
		}
		if len(d.steps) != 4 {
			t.Errorf("done were %v", d.steps)
		}
	})
}

// TestBrowseHappensOnce: a call that is repeated while it runs is refused, one that is repeated later
// gets the same answer, and nothing is done twice. A refusal is not kept.
func TestBrowseHappensOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d, room := browsing(t)
		defer r.stop()
		call := func(key string, hash byte) (hub.BrowsePage, error) {
			ctx := hub.WithCaller(t.Context(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Method: "POST", Path: "/", Key: key, Hash: [32]byte{hash}}})
			return r.Browse(ctx, room.RoomID, hub.BrowseInput{AgentID: "ann", Action: hub.BrowseClick, Ref: "e1"})
		}
		var both sync.WaitGroup
		var pages [2]hub.BrowsePage
		var refused [2]error
		for i := range pages {
			both.Go(func() { pages[i], refused[i] = call("k", 1) })
		}
		both.Wait()
		first := 0
		if refused[0] != nil {
			first = 1
		}
		later, err := call("k", 1)
		require.NoError(t, err)
		if len(d.steps) != 1 || refused[first] != nil || codeIn(refused[1-first]) != hub.CodeInProgress || later.URL != pages[first].URL {
			t.Errorf("done were %v, answered %+v, %v and %+v", d.steps, pages, refused, later)
		}
		if _, err := call("k", 2); codeIn(err) != hub.CodeIdempotencyConflict {
			t.Errorf("the key with another body: %v", err)
		}
		d.err = hub.NewError(hub.CodeStaleRef, "gone")
		if _, err := call("other", 1); codeIn(err) != hub.CodeStaleRef {
			t.Errorf("the refusal is %v", err)
		}
		d.err = nil
		if _, err := call("other", 1); err != nil || len(d.steps) != 3 {
			t.Errorf("after a refusal: %v, done were %v", err, d.steps)
		}
	})
}

// TestBrowseObeys a pause, and knows the hosts that the operator allows now.
func TestBrowseObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d, room := browsing(t)
		defer r.stop()
		step := func(room hub.RoomID) error {
			_, err := r.Browse(t.Context(), room, hub.BrowseInput{AgentID: "ann", Action: hub.BrowseSnapshot})
			return err
		}
		operator := asOperator(t.Context())
		for _, c := range []struct {
			in   hub.AllowHostInput
			want string
		}{{hub.AllowHostInput{Host: "LOCALHOST.:3000"}, "[localhost:3000]"}, {hub.AllowHostInput{Host: "localhost:3000", Remove: true}, "[]"}} {
			_, err := r.AllowHost(operator, room.RoomID, c.in)
			require.NoError(t, err)
			if err := step(room.RoomID); err != nil || fmt.Sprint(d.hosts) != c.want {
				t.Errorf("the page may reach %v, %v, want %s", d.hosts, err, c.want)
			}
		}
		if err := step("r_zz"); codeIn(err) != hub.CodeRoomNotFound {
			t.Errorf("a room that is not there: %v", err)
		}
		_, err := r.Pause(operator, hub.PauseInput{AgentID: "ann"})
		require.NoError(t, err)
		before := len(d.steps)
		if err := step(room.RoomID); codeIn(err) != hub.CodePaused || len(d.steps) != before {
			t.Errorf("a paused agent: %v", err)
		}
	})
}
