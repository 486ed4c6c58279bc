package smoke_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/cli/smoke"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// stale says that a role is here which was killed long ago.
func stale(t *testing.T, c *client.Client, role hub.AgentID, nonce string) {
	t.Helper()
	heard := map[hub.AgentID]string{smoke.RoleA: "old-a", smoke.RoleB: "old-b", smoke.RoleC: "old-c"}
	heard[role] = nonce
	metadata, err := json.Marshal(object{"smoke": object{"step": "meet", "word": "here", "text": nonce, "heard": heard}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Post(t.Context(), hub.PostInput{FromAgent: role, Channel: smoke.DefaultChannel, Body: "here", Metadata: metadata})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLeftovers: what killed roles have left behind confuses nobody, neither what
// lies there before nor what comes late, as through a spool.
func TestLeftovers(t *testing.T) {
	h := testhub.Start(t)
	c := client.New(client.Config{BaseURL: h.URL})
	t.Cleanup(c.Close)
	ctx := t.Context()
	if _, err := c.CreateChannel(ctx, hub.ChannelInput{Name: smoke.DefaultChannel}); err != nil {
		t.Fatal(err)
	}
	for _, role := range smoke.Roles() {
		if _, err := c.Register(ctx, hub.RegisterInput{AgentID: role}); err != nil {
			t.Fatal(err)
		}
		stale(t, c, role, "old")
	}
	if _, err := c.Claim(ctx, hub.ClaimInput{OwnerAgentID: smoke.RoleC, ClaimKey: smoke.DefaultClaim}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Lock(ctx, hub.LockInput{AgentID: smoke.RoleB, FilePath: "smoke/" + string(smoke.DefaultClaim)}); err != nil {
		t.Fatal(err)
	}
	var all []ended
	var wg sync.WaitGroup
	wg.Go(func() { all = play(t, patience, same(h.URL), smoke.RoleB, smoke.RoleC) })
	// As soon as the two are there, late words of old ones come in, and then the third.
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		page, err := c.Messages(ctx, hub.MessagesQuery{Channel: smoke.DefaultChannel})
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the roles have not come: %v", err)
		}
		if len(page.Rows) >= 5 {
			break
		}
	}
	for _, role := range smoke.Roles() {
		stale(t, c, role, "old-"+strings.TrimPrefix(string(role), "smoke-"))
	}
	third := play(t, patience, same(h.URL), smoke.RoleA)
	wg.Wait()
	succeeds(t, append(all, third...))
	for _, e := range all {
		if !strings.Contains(e.out, "of an earlier run") {
			t.Errorf("%s has not told of what it found:\n%s", e.role, e.out)
		}
	}
}

// TestOneProcessPerRole: of two processes of one role one at most goes through.
func TestOneProcessPerRole(t *testing.T) {
	h := testhub.Start(t)
	all := play(t, 10*time.Second, same(h.URL), smoke.RoleA, smoke.RoleA, smoke.RoleB, smoke.RoleC)
	for _, e := range all[:2] {
		var f *smoke.Failure
		if errors.As(e.err, &f) {
			return
		}
	}
	t.Errorf("both went through:\n%s\n%s", all[0].out, all[1].out)
}

// TestMissingPartner: the role that does not come is named.
func TestMissingPartner(t *testing.T) {
	h := testhub.Start(t)
	for _, e := range play(t, time.Second, same(h.URL), smoke.RoleA, smoke.RoleC) {
		var f *smoke.Failure
		if !errors.As(e.err, &f) || f.Step != "meet" || !strings.Contains(f.Why, "for smoke-b to come; ") || !strings.Contains(f.Why, "nothing was heard of smoke-b") {
			t.Errorf("%s: %v", e.role, e.err)
		}
	}
	c := client.New(client.Config{BaseURL: h.URL})
	t.Cleanup(c.Close)
	if agents, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil || len(agents) != 0 {
		t.Errorf("these stay registered: %v, %v", agents, err)
	}
}
