package smoke

import (
	"context"
	"fmt"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
)

// leaseTTL outlives every run, so that no lease ends by itself.
const leaseTTL = 600 // seconds

// shortWait is for a claim that cannot come free.
const shortWait = 100 * time.Millisecond

// claimRace: all ask for one claim at the same time, one gets it, and the others
// learn who.
func (p *player) claimRace(ctx context.Context) (string, error) {
	got, err := p.claim(ctx, 0)
	if err != nil {
		return "", err
	}
	row := got.Row
	if row.ClaimKey != p.cfg.Claim || got.Acquired != (row.OwnerAgentID == p.me()) {
		return "", wrong("acquired is %v and the row is of %s, held by %s", got.Acquired, row.ClaimKey, row.OwnerAgentID)
	}
	if _, err := p.say(ctx, note{Word: "asked", Acquired: got.Acquired, Owner: row.OwnerAgentID, Fence: row.Fence}); err != nil {
		return "", err
	}
	if err := p.all(ctx, "asked"); err != nil {
		return "", err
	}
	var winners []hub.AgentID
	for _, l := range p.lines("asked") {
		if l.note.Acquired {
			winners = append(winners, l.FromAgent)
			p.owner, p.fence = l.FromAgent, l.note.Fence
		}
	}
	if len(winners) != 1 {
		return "", wrong("the claim was granted to %v, want exactly one; the row of this agent's answer is of %s", winners, row.OwnerAgentID)
	}
	for _, l := range p.lines("asked") {
		if l.note.Owner != p.owner || l.note.Fence != p.fence {
			return "", wrong("%s holds the claim with fence %d, and %s was shown %s with fence %d", p.owner, p.fence, l.FromAgent, l.note.Owner, l.note.Fence)
		}
	}
	if p.owner == p.me() {
		return fmt.Sprintf("won, fence %d", p.fence), nil
	}
	return fmt.Sprintf("lost to %s, fence %d", p.owner, p.fence), nil
}

// handOver: the claim goes from one to the next, never two hold it, and its
// fences rise. A holder says so before it lets go, so that a grant that comes too
// early stands in the feed between.
func (p *player) handOver(ctx context.Context) (string, error) {
	fence := p.fence
	if p.owner == p.me() {
		if _, err := p.say(ctx, note{Word: "hold", Fence: fence}); err != nil {
			return "", err
		}
		for _, role := range Roles() {
			if role == p.me() {
				continue
			}
			if _, err := p.await(ctx, role, "asking"); err != nil {
				return "", err
			}
		}
	} else {
		if _, err := p.await(ctx, p.owner, "hold"); err != nil {
			return "", err
		}
		if err := p.waitInVain(ctx); err != nil {
			return "", err
		}
		row, err := p.waitForClaim(ctx)
		if err != nil {
			return "", err
		}
		fence = row.Fence
		if _, err := p.say(ctx, note{Word: "hold", Fence: fence}); err != nil {
			return "", err
		}
	}
	if _, err := p.say(ctx, note{Word: "letting go", Fence: fence}); err != nil {
		return "", err
	}
	if err := p.release(ctx, fence); err != nil {
		return "", err
	}
	if err := p.all(ctx, "letting go"); err != nil {
		return "", err
	}
	if err := p.oneAtATime(); err != nil {
		return "", err
	}
	err := p.release(ctx, 0)
	return fmt.Sprintf("held with fence %d, one holder at a time", fence), refusedAs(err, hub.CodeNotHolder, "releasing the claim again")
}

// waitInVain asks for the claim and waits a little while its holder holds it still,
// which it does until this role has said that it was refused.
func (p *player) waitInVain(ctx context.Context) error {
	got, err := p.claim(ctx, min(p.cfg.PollInterval, shortWait).Seconds())
	if err != nil {
		return err
	}
	if got.Acquired || got.Row.OwnerAgentID != p.owner {
		return wrong("%s holds the claim with fence %d, and waiting for it was answered with acquired %v and the row of %s, fence %d",
			p.owner, p.fence, got.Acquired, got.Row.OwnerAgentID, got.Row.Fence)
	}
	_, err = p.say(ctx, note{Word: "asking"})
	return err
}

// waitForClaim asks until this role holds the claim.
func (p *player) waitForClaim(ctx context.Context) (hub.Claim, error) {
	began := time.Now()
	for {
		asked := time.Now()
		got, err := p.claim(ctx, min(p.cfg.PollInterval.Seconds(), hub.MaxWaitSec))
		if err != nil {
			return hub.Claim{}, err
		}
		if got.Acquired {
			if got.Row.OwnerAgentID != p.me() {
				return hub.Claim{}, wrong("acquired is true and the claim is held by %s", got.Row.OwnerAgentID)
			}
			return got.Row, nil
		}
		// A hub that does not park who asks is asked in the same interval.
		if rest := p.cfg.PollInterval - time.Since(asked); !pause.For(ctx, max(rest, 0)) {
			return hub.Claim{}, fmt.Errorf("waited %.1f s for the claim, which %s holds; %w", time.Since(began).Seconds(), got.Row.OwnerAgentID, context.Cause(ctx))
		}
		if err := p.othersFailed(); err != nil {
			return hub.Claim{}, err
		}
	}
}

// oneAtATime reads the story of the claim from the feed.
func (p *player) oneAtATime() error {
	var holder hub.AgentID
	var fence hub.Fence
	held := 0
	for _, l := range p.heard {
		if l.note.Run != p.run || l.note.Step != p.step {
			continue
		}
		switch l.note.Word {
		case "hold":
			if holder != "" {
				return wrong("%s was given the claim with fence %d while %s held it with fence %d", l.FromAgent, l.note.Fence, holder, fence)
			}
			if l.note.Fence <= fence {
				return wrong("%s was given the claim with fence %d, which is not above the fence %d before it", l.FromAgent, l.note.Fence, fence)
			}
			holder, fence = l.FromAgent, l.note.Fence
			held++
		case "letting go":
			holder = ""
		}
	}
	if held != len(Roles()) {
		return wrong("%d roles have held the claim, want all three", held)
	}
	return nil
}

func (p *player) claim(ctx context.Context, waitSec float64) (hub.Grant[hub.Claim], error) {
	return ask(ctx, p, "claiming", func(ctx context.Context) (hub.Grant[hub.Claim], error) {
		return p.hub.Claim(ctx, hub.ClaimInput{OwnerAgentID: p.me(), ClaimKey: p.cfg.Claim, TTLSec: leaseTTL, WaitSec: waitSec})
	})
}

func (p *player) release(ctx context.Context, fence hub.Fence) error {
	_, err := ask(ctx, p, "releasing the claim", func(ctx context.Context) (hub.Outcome[hub.Claim], error) {
		return p.hub.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: p.cfg.Claim, OwnerAgentID: p.me(), Fence: fence})
	})
	return err
}

// lock: a file that one has locked is not another's, until it is unlocked.
func (p *player) lock(ctx context.Context) (string, error) {
	if p.me() == RoleA {
		got, err := p.tryLock(ctx)
		if err != nil {
			return "", err
		}
		if !got.Acquired || got.Row.AgentID != RoleA || got.Row.FilePath != p.file() {
			return "", wrong("the lock of %s, which is free, was answered with acquired %v and the row of %s, held by %s", p.file(), got.Acquired, got.Row.FilePath, got.Row.AgentID)
		}
		if _, err := p.say(ctx, note{Word: "locked", Fence: got.Row.Fence}); err != nil {
			return "", err
		}
	}
	locked, err := p.await(ctx, RoleA, "locked")
	if err != nil {
		return "", err
	}
	if p.me() != RoleA {
		got, err := p.tryLock(ctx)
		if err != nil {
			return "", err
		}
		if got.Acquired || got.Row.AgentID != RoleA || got.Row.Fence != locked.note.Fence {
			return "", wrong("the lock that smoke-a holds with fence %d was answered with acquired %v and the row of %s, fence %d", locked.note.Fence, got.Acquired, got.Row.AgentID, got.Row.Fence)
		}
	}
	if err := p.together(ctx, "tried"); err != nil {
		return "", err
	}
	return p.relock(ctx, locked.note.Fence)
}

// relock: smoke-a unlocks, and smoke-b gets the lock.
func (p *player) relock(ctx context.Context, before hub.Fence) (string, error) {
	if p.me() == RoleA {
		if err := p.unlock(ctx); err != nil {
			return "", err
		}
		if _, err := p.say(ctx, note{Word: "unlocked"}); err != nil {
			return "", err
		}
	}
	if _, err := p.await(ctx, RoleA, "unlocked"); err != nil {
		return "", err
	}
	switch {
	case p.me() == RoleB:
		got, err := p.tryLock(ctx)
		if err != nil {
			return "", err
		}
		if !got.Acquired || got.Row.AgentID != RoleB || got.Row.Fence <= before {
			return "", wrong("the lock after smoke-a's, which had fence %d, was answered with acquired %v and the row of %s, fence %d", before, got.Acquired, got.Row.AgentID, got.Row.Fence)
		}
		if err := p.unlock(ctx); err != nil {
			return "", err
		}
	case p.me() == RoleC:
		if err := refusedAs(p.unlock(ctx), hub.CodeNotHolder, "unlocking what this agent has not locked"); err != nil {
			return "", err
		}
	}
	return p.file() + " went from smoke-a to smoke-b", nil
}

func (p *player) tryLock(ctx context.Context) (hub.Grant[hub.Lock], error) {
	return ask(ctx, p, "locking", func(ctx context.Context) (hub.Grant[hub.Lock], error) {
		return p.hub.Lock(ctx, hub.LockInput{AgentID: p.me(), FilePath: p.file(), TTLSec: leaseTTL})
	})
}

func (p *player) unlock(ctx context.Context) error {
	_, err := ask(ctx, p, "unlocking", func(ctx context.Context) (hub.Outcome[hub.Lock], error) {
		return p.hub.ReleaseLock(ctx, hub.LockHoldInput{FilePath: p.file(), AgentID: p.me()})
	})
	return err
}
