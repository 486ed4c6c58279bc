package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

func leaseHandlers() handlers {
	return handlers{
		"listClaims":   listClaims,
		"claim":        postClaim,
		"refreshClaim": refreshClaim,
		"releaseClaim": releaseClaim,
		"breakClaim":   breakClaim,
		"breakLock":    breakLock,
		"listLocks":    listLocks,
		"lock":         postLock,
		"refreshLock":  refreshLock,
		"releaseLock":  releaseLock,
	}
}

// lease returns the reply to a request for a lease: 201 if it was granted, 200
// with the holder's row if not.
func lease[T any](g hub.Grant[T]) reply {
	rep := reply{result: g.Row, acquired: granted(g.Acquired), circle: g.Circle, replayed: g.Replayed}
	if g.Acquired {
		rep.status = http.StatusCreated
	}
	return rep
}

func renewed[T any](g hub.Grant[T]) reply {
	return reply{result: g.Row, acquired: granted(g.Acquired), replayed: g.Replayed}
}

func seconds(sec float64) time.Duration { return time.Duration(sec * float64(time.Second)) }

// waits prepares for a wait of *sec seconds, and shortens it if the forwarder
// that carries the call has less time. The forwarder says so in a header and
// not in the body, so that the body stays the same in every attempt under one
// idempotency key.
func (c *call) waits(sec *float64) error {
	if given, ok := c.r.Header[api.HeaderMaxWait]; ok {
		most, err := strconv.ParseFloat(given[0], 64)
		if len(given) != 1 || err != nil || !(most >= 0) { // NaN is refused too
			return hub.Invalid(api.HeaderMaxWait, api.HeaderMaxWait+" must be one number of seconds from 0 on")
		}
		*sec = min(*sec, most)
	}
	c.parks(seconds(*sec))
	return nil
}

func postClaim(c *call) (reply, error) {
	var in hub.ClaimInput
	if err := c.input(&in, &in.OwnerAgentID, func() error { return api.ValidateClaim(&in) }); err != nil {
		return reply{}, err
	}
	if err := c.waits(&in.WaitSec); err != nil {
		return reply{}, err
	}
	out, err := c.service().Claim(c.context(), in)
	return lease(out), err
}

func (c *call) claimHold() (hub.ClaimHoldInput, error) {
	var in hub.ClaimHoldInput
	if err := c.decode(&in); err != nil {
		return in, err
	}
	if in.AgentID == "" {
		c.name(&in.OwnerAgentID)
	}
	if err := api.ValidateClaimHold(&in); err != nil {
		return in, err
	}
	return in, c.actAs(in.OwnerAgentID)
}

func refreshClaim(c *call) (reply, error) {
	in, err := c.claimHold()
	if err != nil {
		return reply{}, err
	}
	out, err := c.service().RefreshClaim(c.context(), in)
	return renewed(out), err
}

func releaseClaim(c *call) (reply, error) {
	in, err := c.claimHold()
	if err != nil {
		return reply{}, err
	}
	out, err := c.service().ReleaseClaim(c.context(), in)
	return changed(out), err
}

func breakClaim(c *call) (reply, error) {
	var in hub.ClaimBreakInput
	return writeRow(c, &in, nil, anyone(api.ValidateClaimBreak), c.service().BreakClaim, changed)
}

func breakLock(c *call) (reply, error) {
	var in hub.LockBreakInput
	return writeRow(c, &in, nil, anyone(api.ValidateLockBreak), c.service().BreakLock, changed)
}

// leasesQuery reads the filters of a list of leases. key is the parameter that
// names one lease, in at most chars characters. As in every list, agent_id is
// the viewer; owner_agent_id is the holder, also of a lock.
func (c *call) leasesQuery(query *api.Query, key string, chars int) hub.LeasesQuery {
	q := hub.LeasesQuery{
		Key:        query.Name(key, chars),
		Prefix:     query.Name("prefix", chars),
		Owner:      query.Agent("owner_agent_id"),
		RoomID:     hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		ActiveOnly: query.Bool("active_only"),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	q.Viewer = c.view(query)
	return q
}

func listClaims(c *call) (reply, error) {
	query := c.query()
	thread := query.Thread()
	q := c.leasesQuery(query, "claim_key", hub.MaxNameChars)
	q.ThreadID = thread
	return readList(c, query, q, c.service().Claims)
}

func postLock(c *call) (reply, error) {
	var in hub.LockInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateLock(&in) }); err != nil {
		return reply{}, err
	}
	if err := c.waits(&in.WaitSec); err != nil {
		return reply{}, err
	}
	out, err := c.service().Lock(c.context(), in)
	return lease(out), err
}

func refreshLock(c *call) (reply, error) {
	var in hub.LockHoldInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidateLockHold), c.service().RefreshLock, renewed)
}

func releaseLock(c *call) (reply, error) {
	var in hub.LockHoldInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidateLockHold), c.service().ReleaseLock, changed)
}

func listLocks(c *call) (reply, error) {
	query := c.query()
	q := c.leasesQuery(query, "file_path", hub.MaxFilePathChars)
	q.Covering = query.Name("covering", hub.MaxFilePathChars)
	query.Keep(api.CheckLockPattern("covering", q.Covering))
	return readList(c, query, q, c.service().Locks)
}
