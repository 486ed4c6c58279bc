package forwarder

import (
	"errors"
	"strconv"
	"time"

	"hubcli/hub"
	"hubcli/relay"
)

// deal takes the request of one name, sends it to the hub, writes the response
// and removes the request. If it ends before the last step, the request is
// still in the folder, and a later call of deal does it again.
func (f *Forwarder) deal(c *call) {
	t, err := f.take(c)
	var m *misfit
	switch {
	case errors.As(err, &m):
		f.turnAway(c, m)
		return
	case errors.Is(err, errGone):
		return
	case errors.Is(err, errNotOurs):
		f.notOurs(c.dir)
		return
	case err != nil:
		f.block(c.dir, troubleTake, err)
		return
	}
	defer t.close()
	f.cfg.Step(StepTaken)
	response := f.response(c, t)
	if response == nil {
		return
	}
	f.cfg.Step(StepAnswered)
	if err := f.respond(c, response); err != nil {
		f.block(c.dir, troubleRespond, err)
		return
	}
	f.cfg.Step(StepResponded)
	if err := t.remove(c.spool, c.dir.name); err != nil {
		f.block(c.dir, troubleTake, err)
		return
	}
	f.cfg.Step(StepRemoved)
	f.unblock(c.dir)
}

// turnAway tells the client why its file is no request, if it can, and rejects
// the file.
func (f *Forwarder) turnAway(c *call, m *misfit) {
	if m.answer != nil {
		if err := f.respond(c, unanswered(c.id, m.answer)); err != nil {
			f.block(c.dir, troubleRespond, err)
			return
		}
	}
	if err := f.reject.move(c.spool, c.dir.name, c.name, m.why); err != nil {
		f.block(c.dir, troubleReject, err)
		return
	}
	if f.reject.news(c.dir.name) {
		f.cfg.Logger.Warn("relay: a file that is not a request was moved to "+relay.RejectedDir, "folder", c.dir.name, "reason", m.why)
	}
}

// response returns the answer to a request, or nil if it stays unanswered for
// now: the forwarder stops, or the file cannot be read.
func (f *Forwarder) response(c *call, t *taken) *relay.Response {
	if age := time.Since(t.info.ModTime()); age > maxRequestAge {
		// The hub remembers a request for 24 hours. If a dead forwarder left a
		// request that is sent after that, the hub would carry it out twice. An
		// hour is far below that even if clocks differ, and no client waits so
		// long.
		e := hub.Error{
			Code: hub.CodeRelayTimeout, Status: relay.StatusNoAnswer,
			Message: "the request lay in the spool for more than " + maxRequestAge.String() + " and is not sent any more",
			Fix:     "check whether it took effect before you send it again under a new request_id",
		}
		return unanswered(c.id, uncertain(&e))
	}
	if !f.charge(c, t.info.Size()) {
		return f.brokenOff(c, false)
	}
	data, err := t.read()
	if err != nil {
		f.block(c.dir, troubleTake, err)
		return nil
	}
	r, refusal := decodeRequest(data, c.dir.name, c.id)
	if refusal != nil {
		return unanswered(c.id, refusal)
	}
	op, refusal := operationOf(r.Method, r.Path)
	if refusal != nil {
		return unanswered(c.id, refusal)
	}
	if len(r.Body) <= smallRequest {
		f.discharge(c)
	}
	most := max(0, f.cfg.RequestTimeout-answerMargin)
	if c.charged > 0 {
		most = 0 // a waiting call holds no memory that other calls need
	}
	path, wait := capWait(op, r.Path, r.Body, most)
	if wait > 0 {
		came := time.Now()
		if !f.park(c, wait) {
			return unanswered(c.id, tooManyPolls())
		}
		if c.placed == nil {
			wait = 0 // its time is over: the hub answers at once
		}
		wait = max(0, min(wait-time.Since(came), c.left()-answerMargin))
		path, wait = capWait(op, r.Path, r.Body, wait)
	}
	f.cfg.Step(StepSending)
	return f.send(c, op, r, path, wait)
}

// charge waits until there is memory for a request of size bytes. The number of
// calls bounds small requests; of large ones each folder has one at a time.
func (f *Forwarder) charge(c *call, size int64) bool {
	if size <= smallRequest {
		return true
	}
	select {
	case c.dir.large <- struct{}{}:
	case <-c.ctx.Done():
		return false
	}
	if !f.large.take(c.ctx, size) {
		<-c.dir.large
		return false
	}
	c.charged = size
	return true
}

// discharge gives back what charge has taken.
func (f *Forwarder) discharge(c *call) {
	if c.charged > 0 {
		f.large.give(c.charged)
		<-c.dir.large
		c.charged = 0
	}
}

// left returns how much time the call has left.
func (c *call) left() time.Duration {
	deadline, _ := c.ctx.Deadline()
	return time.Until(deadline)
}

func tooManyPolls() *hub.Error {
	return hub.NewError(hub.CodeTooManyPolls, "too many calls of this agent, or of all agents, wait in the relay").
		With("limit", maxParked+maxWaiting).
		WithFix("let one of the waiting calls return first; the relay passes on " + strconv.Itoa(maxParked) + " of one agent at a time")
}

// brokenOff returns the response to a call that ran out of time, or nil if the
// forwarder stops. sent says that the hub may have received the call.
func (f *Forwarder) brokenOff(c *call, sent bool) *relay.Response {
	if c.left() > 0 {
		return nil
	}
	e := &hub.Error{
		Code: hub.CodeRelayTimeout, Status: relay.StatusNoAnswer,
		Message: "the hub did not answer within " + f.cfg.RequestTimeout.String(),
		Fix:     "see what holds it up: hubcli app status --base-url " + f.base,
	}
	if sent {
		e = uncertain(e)
		e.Fix += "; then send the same request_id again: it returns the outcome"
	}
	return unanswered(c.id, e)
}

// respond puts a response into its place.
func (f *Forwarder) respond(c *call, r *relay.Response) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	responses, err := makeFolder(c.spool.responses, c.dir.name)
	if err != nil {
		return err
	}
	defer responses.Close()
	return relay.WriteWhole(responses, ".", string(c.id)+relay.DoneSuffix, data)
}

// notAHub is the error if some other server answers.
func (f *Forwarder) notAHub(why string) *hub.Error {
	return &hub.Error{
		Code: hub.CodeUnreachable, Status: relay.StatusHubUnreachable,
		Message: "the server at " + f.base + " is not a hub: " + why,
		Fix:     "start the relay with --base-url and the address of the hub",
	}
}
