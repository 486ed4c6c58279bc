package httpapi_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"hubcli/internal/testhub"
)

// TestParkedCallsGiveTheirTurnsBack: an agent whose calls all wait can still make the call
// that ends their wait.
func TestParkedCallsGiveTheirTurnsBack(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/claims", `{"claim_key":"build","owner_agent_id":"holder"}`)
	var parked sync.WaitGroup
	for i := range 4 {
		parked.Go(func() { c.ok(200, "GET", "/v1/events?agent_id=a&channel=general&timeout=60", "") })
		parked.Go(func() {
			c.ok(201, "POST", "/v1/claims", fmt.Sprintf(`{"claim_key":"build","owner_agent_id":"a","wait_sec":60,"metadata":{"call":%d}}`, i))
		})
	}
	waitParked(t, h, 8)
	began := time.Now()
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","channel":"general","body":"wake up"}`)
	c.ok(200, "POST", "/v1/claims/release", `{"claim_key":"build","agent_id":"holder"}`)
	parked.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the calls that waited ended after %v", took)
	}
}

// TestStreamsGiveTheirTurnsBack: a stream has no end, and more of them than there are turns
// do not hold up their agent.
func TestStreamsGiveTheirTurnsBack(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	for range 8 {
		c.stream("agent_id=a&channel=general")
	}
	waitParked(t, h, 8)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","channel":"general","body":"hello"}`)
}

// TestMoreCallsThanTurnsAreAnswered: calls beyond the turns of their agent wait, and none
// is refused or lost.
func TestMoreCallsThanTurnsAreAnswered(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	const calls = 100
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			c.ok(201, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":"a","channel":"general","body":"%d"}`, i))
		})
	}
	all.Wait()
	if rows := c.ok(200, "GET", "/v1/messages?channel=general&agent_id=a&limit=1000", "").rows(); rows != calls {
		t.Errorf("%d messages are there, want %d", rows, calls)
	}
}
