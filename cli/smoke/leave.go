package smoke

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
)

// lookAgain is the pause between two reads of a list that cannot be waited for.
const lookAgain = 100 * time.Millisecond

// leave: smoke-c deregisters, and the others see that it is gone.
func (p *player) leave(ctx context.Context) (string, error) {
	if p.me() == RoleC {
		if _, err := p.say(ctx, note{Word: "leaving"}); err != nil {
			return "", err
		}
		return "deregistered", p.goOut(ctx)
	}
	if _, err := p.await(ctx, RoleC, "leaving"); err != nil {
		return "", err
	}
	began := time.Now()
	for {
		agents, err := p.agents(ctx)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(agents, func(s hub.LiveAgent) bool { return s.AgentID == RoleC }) {
			return "smoke-c is no longer listed", p.stays(agents)
		}
		if !pause.For(ctx, min(lookAgain, p.cfg.PollInterval)) {
			return "", fmt.Errorf("waited %.1f s for smoke-c, which has deregistered, to be listed no more; %w", time.Since(began).Seconds(), context.Cause(ctx))
		}
	}
}

// stays: that another has left has ended nobody else's session.
func (p *player) stays(agents []hub.LiveAgent) error {
	if !slices.ContainsFunc(agents, func(s hub.LiveAgent) bool { return s.AgentID == p.me() }) {
		return wrong("%s is no longer listed either, though it has not left", p.me())
	}
	return nil
}

// goOut deregisters. Doing it again finds nothing.
func (p *player) goOut(ctx context.Context) error {
	p.hub = p.anonymous
	if err := p.deregister(ctx, p.session); err != nil {
		return err
	}
	if err := refusedAs(p.deregister(ctx, p.session), hub.CodeSessionNotFound, "deregistering again"); err != nil {
		return err
	}
	p.session = ""
	return nil
}

func (p *player) deregister(ctx context.Context, session hub.SessionID) error {
	_, err := ask(ctx, p, "deregistering", func(ctx context.Context) (hub.Outcome[hub.ClosedSession], error) {
		return p.anonymous.CloseSession(ctx, session, "")
	})
	return err
}

// end: no lease of the run is left, and nobody stays registered.
func (p *player) end(ctx context.Context) (string, error) {
	claims, err := ask(ctx, p, "listing claims", func(ctx context.Context) ([]hub.Claim, error) {
		return hub.All(ctx, p.hub.Claims, hub.LeasesQuery{ActiveOnly: true, Limit: hub.MaxPageRows})
	})
	if err != nil {
		return "", err
	}
	for _, c := range claims {
		if c.ClaimKey == p.cfg.Claim {
			return "", wrong("the claim is still held by %s, though all have released it", c.OwnerAgentID)
		}
	}
	locks, err := ask(ctx, p, "listing locks", func(ctx context.Context) ([]hub.Lock, error) {
		return hub.All(ctx, p.hub.Locks, hub.LeasesQuery{ActiveOnly: true, Limit: hub.MaxPageRows})
	})
	if err != nil {
		return "", err
	}
	for _, l := range locks {
		if l.FilePath == p.file() {
			return "", wrong("the lock is still held by %s, though all have released it", l.AgentID)
		}
	}
	if p.session != "" {
		if err := p.goOut(ctx); err != nil {
			return "", err
		}
	}
	return "no lease is left", nil
}
