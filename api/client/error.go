package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/hubfile"
)

// failure is a failed attempt, and says whether another attempt may help.
type failure struct {
	err   *hub.Error
	again bool // sending the same again may help
	lost  bool // it may have taken effect nevertheless
}

func (f *failure) Error() string { return f.err.Error() }

// after is the pause before attempt n+1.
func (f *failure) after(n int) time.Duration {
	if f.err.RetryAfter > 0 {
		return time.Duration(f.err.RetryAfter) * time.Second
	}
	return time.Duration(n) * 100 * time.Millisecond
}

// unanswered explains a request that got no complete answer. sent says that it had a
// connection, spoke that some bytes came back.
func (c *Client) unanswered(ctx context.Context, err error, limit time.Duration, sent, spoke bool) *failure {
	var dial *net.OpError
	var h *hub.Error
	var unproved *unprovedError
	switch {
	case errors.As(err, &h): // of the dialer
		return &failure{err: h}
	case errors.As(err, &unproved) && ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{err: c.notProved(hub.CodeBrokeOff, cause(err)), again: true}
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		if !sent {
			limit = min(limit, proofTimeout)
			if note, nerr := c.note(); nerr == nil && note != nil {
				return &failure{err: c.notProved(hub.CodeNoAnswer, fmt.Sprintf("it did not answer within %s", limit))}
			}
		}
		e := &hub.Error{
			Code:    hub.CodeNoAnswer,
			Message: fmt.Sprintf("the hub at %s did not answer within %s", c.BaseURL(), limit),
			Fix:     "see what holds it up: hubcli app status --base-url " + c.BaseURL(),
		}
		return &failure{err: e, lost: sent}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &failure{err: c.unreachable()}
	case spoke && !brokeOff(err):
		return &failure{err: c.notAHub(cause(err))}
	default:
		// The hub died, or closed a kept-alive connection just then.
		e := &hub.Error{
			Code:    hub.CodeBrokeOff,
			Message: "the connection to " + c.BaseURL() + " broke off: " + cause(err),
			Fix:     "see whether the hub still runs: hubcli app status --base-url " + c.BaseURL(),
		}
		return &failure{err: e, again: true, lost: sent}
	}
}

// notProved is the error for a program at the address of a hub of this user that has said nothing to
// a challenge that tells which program it is. Nothing else was sent.
func (c *Client) notProved(code hub.Code, why string) *hub.Error {
	port, err := strconv.Atoi(c.base.Port())
	if err != nil {
		port = 80
	}
	return &hub.Error{
		Code:    code,
		Message: "what has the port of " + c.BaseURL() + " did not prove to be the hub: " + why,
		Fix:     "try again soon if the hub is starting or stopping; otherwise see which program has the port: " + listeners(port),
	}
}

// brokeOff reports whether an answer ended early, in contrast to an answer that
// is not HTTP.
func brokeOff(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op)
}

// cause leaves out the address that net/http puts before it.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}

func (c *Client) unreachable() *hub.Error {
	e := &hub.Error{
		Code: hub.CodeUnreachable, Message: "no hub answers at " + c.BaseURL(),
		Fix: "start one with: hubcli ensure",
	}
	host := c.base.Hostname()
	if !c.Local() && !OnThisMachine(c.BaseURL()) {
		e.Fix = "check the address, and that the hub there was started with --allow-remote"
		return e
	}
	if host != "127.0.0.1" && !strings.EqualFold(host, "localhost") {
		e.Fix += " --host " + host
	}
	if port := c.base.Port(); c.BaseURL() != hubfile.BaseURL(rootOr(c.cfg.DataRoot)) && port != "" {
		e.Fix += " --port " + port
	}
	if !isLoopback(host) {
		e.Fix += " --allow-remote"
	}
	return e
}

func (c *Client) notAHub(why string) *hub.Error {
	return &hub.Error{
		Code:    hub.CodeNotAHub,
		Message: "the server at " + c.BaseURL() + " is not a hub: " + why,
		Fix:     "check the address, or give the hub another port",
	}
}
