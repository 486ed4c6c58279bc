//go:build unix

package forwarder

import (
	"context"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestWaitingClaimIsAskedOnce: a claim that would wait longer than the
// forwarder's time is the same call to the hub in every attempt.
func TestWaitingClaimIsAskedOnce(t *testing.T) {
	for _, at := range []Step{stepSent, StepAnswered} {
		t.Run(string(at), func(t *testing.T) {
			b := newBench(t, testhub.Start(t).URL)
			id := b.ask("dev-0", "POST", "/v1/claims", `{"owner_agent_id":"dev-0","claim_key":"k","wait_sec":60}`)
			b.wasKilled(b.process(at, 1))
			b.forward(func(c *Config) { c.RequestTimeout = 12 * time.Second })
			if r, _ := b.answer("dev-0", id); r.Status != 201 {
				t.Errorf("the claim was answered %d %s", r.Status, r.Body)
			}
		})
	}
}

// TestRefusalIsNotCarriedOutLater: a forwarder dies after its response and
// before it removes the request. Once the client has read the response, the
// request looks unanswered. The hub stores no refusals, so a second attempt
// could succeed; there must be none.
func TestRefusalIsNotCarriedOutLater(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, testhub.Start(t).URL)
	holder := client.New(client.Config{BaseURL: b.url, Agent: "holder"})
	defer holder.Close()
	if _, err := holder.Claim(ctx, hub.ClaimInput{OwnerAgentID: "holder", ClaimKey: "k"}); err != nil {
		t.Fatal(err)
	}
	refused, transport, err := relay.NewClient(relay.TransportConfig{Dir: b.dir, Agent: "dev-0", Timeout: patience})
	require.NoError(t, err)
	defer transport.CloseIdleConnections()
	dying := b.process(StepResponded, 1)
	got, err := refused.Claim(ctx, hub.ClaimInput{OwnerAgentID: "dev-0", ClaimKey: "k"})
	if err != nil || got.Acquired {
		t.Fatalf("the claim that is held was answered %+v, %v", got, err)
	}
	b.wasKilled(dying)
	if _, err := holder.ReleaseClaim(ctx, hub.ClaimHoldInput{OwnerAgentID: "holder", ClaimKey: "k"}); err != nil {
		t.Fatal(err)
	}
	b.forward(nil)
	b.until("the requests are dealt with", func() bool { return len(b.names(relay.RequestsDir, "dev-0")) == 0 })
	rows, _, err := holder.Claims(ctx, hub.LeasesQuery{ActiveOnly: true})
	if err != nil || len(rows) != 0 {
		t.Errorf("claims that are held now: %+v, %v", rows, err)
	}
}

// TestShortWaitsDoNotStandBehindLongOnes: all places for waiting calls are
// taken, and a call with a short wait is still answered after that wait.
func TestShortWaitsDoNotStandBehindLongOnes(t *testing.T) {
	b := start(t, nil)
	for range maxParked {
		b.ask("dev-0", "GET", "/v1/events?agent_id=dev-0&timeout=25", "")
	}
	b.until("the polls are parked", func() bool { return len(b.names(relay.RequestsDir, "dev-0")) == maxParked })
	claim := b.ask("dev-0", "POST", "/v1/claims", `{"owner_agent_id":"dev-0","claim_key":"k","wait_sec":0.2}`)
	poll := b.ask("dev-0", "GET", "/v1/events?agent_id=dev-0&timeout=0.2", "")
	if r, _ := b.answer("dev-0", claim); r.Status != 201 {
		t.Errorf("the claim was answered %d %s", r.Status, r.Body)
	}
	if r, _ := b.answer("dev-0", poll); r.Status != 200 {
		t.Errorf("the poll was answered %d %s", r.Status, r.Body)
	}
}
