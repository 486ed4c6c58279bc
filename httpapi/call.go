package httpapi

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// call is one request on its way through a handler.
type call struct {
	server *Server
	route  *route
	w      http.ResponseWriter
	r      *http.Request
	param  string // the value of the path's parameter
	caller hub.Caller
	key    hub.IdempotencyKey // where caller.Idempotency points
	agent  hub.AgentID        // agent that the call acts as, for the log; may be empty
	local  bool               // the peer is on this machine's loopback
	logged bool               // the call is logged though it changes nothing
	hashes bool               // the hash of the body is wanted, also without an idempotency key
	hash   [sha256.Size]byte  // of the body that was decoded, if anybody wants it
	signed *[sha256.Size]byte // the hash of the body that a page has signed; nil: the call is not signed

	bodyBytes   int64 // of the body that was decoded
	answerBytes int64 // that count in Server.answers

	answer   context.Context // ends when the answer is written or given up; nil: nothing of it counts
	answered context.CancelFunc
	turn     callTurn
}

// context carries the caller to the services.
func (c *call) context() context.Context {
	c.caller.Waiting, c.caller.Acts, c.caller.Peeks = c.giveTurn, c.agent, c.r.Method == http.MethodHead
	ctx := hub.WithCaller(c.r.Context(), &c.caller)
	if c.route.Changes() {
		return ctx
	}
	if c.answer == nil { // a client that sends nothing more may still take its answer
		c.answer, c.answered = context.WithCancel(context.WithoutCancel(ctx))
	}
	return hub.WithAnswer(ctx, c.answer)
}

// decode reads the body into the struct that in points to. The body's buffer is
// free again when decode returns.
func (c *call) decode(in any) error {
	limit := int64(maxSmallBody)
	switch c.route.Body.Bound {
	case api.BoundMessage:
		limit = c.server.largeBody
	case api.BoundArtifact:
		limit = api.ArtifactBodyCap()
	case api.BoundSmall:
	}
	body, err := c.server.readBody(c.w, c.r, limit)
	if err != nil {
		return err
	}
	defer body.free()
	c.bodyBytes = int64(len(body.data))
	if c.caller.Idempotency != nil || c.hashes {
		c.hash = sha256.Sum256(body.data)
		c.key.Hash = c.hash
	}
	if err := c.signedBody(c.hash); err != nil {
		return err
	}
	return api.Decode(body.data, in)
}

// service is what the hub does for agents.
func (c *call) service() hub.Service { return c.server.config.Service }

// query parses the parameters of the URL. It keeps the error of a malformed URL
// as the query's first error.
func (c *call) query() *api.Query {
	q, err := api.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		q = &api.Query{}
		q.Keep(err)
	}
	return q
}

// own returns the agent of the spool that the call came through or of the
// session that it proves, or "" if there is none.
func (c *call) own() hub.AgentID {
	if c.caller.Relay != "" {
		return c.caller.Relay
	}
	return c.caller.Agent
}

// name sets an empty agent to the call's own.
func (c *call) name(agent *hub.AgentID) {
	if *agent == "" {
		*agent = c.own()
	}
}

// actAs lets the call act as agent, counts it as a sign of life of that agent and
// waits for its turn among the agent's calls. It refuses if the spool or the session
// belongs to another agent. An empty agent is no particular agent.
func (c *call) actAs(agent hub.AgentID) error {
	if err := c.mayActAs(agent); err != nil {
		return err
	}
	c.agent = agent
	if err := c.hasRoom(); err != nil {
		return err
	}
	if agent != "" && !agent.Reserved() {
		c.server.config.Presence.Touch(agent, c.route.Polls)
	}
	return c.takeTurn()
}

// mayActAs returns an error if the call's spool or session belongs to another
// agent.
func (c *call) mayActAs(agent hub.AgentID) error {
	if agent == "" {
		return nil
	}
	if c.caller.Relay != "" && c.caller.Relay != agent {
		return hub.NewError(hub.CodeAgentMismatch, "the call names one agent but came through the spool of another").
			With("agent_id", agent).With("relay_agent_id", c.caller.Relay).
			WithFix("act as " + string(c.caller.Relay) + ", or use the spool folder of " + string(agent))
	}
	if c.caller.Agent != "" && c.caller.Agent != agent {
		return hub.NewError(hub.CodeAgentMismatch, "the call names one agent but proves a session of another").
			With("agent_id", agent).With("session_agent_id", c.caller.Agent)
	}
	return nil
}

// input reads the body of a call that acts as an agent into in. agent points to
// a member of in and gets the call's own agent if the body leaves it out. check
// refuses inputs that are wrong whatever the state. Then the call acts as the
// agent.
func (c *call) input(in any, agent *hub.AgentID, check func() error) error {
	if err := c.decode(in); err != nil {
		return err
	}
	c.name(agent)
	if err := check(); err != nil {
		return err
	}
	return c.actAs(*agent)
}

// readAs is actAs for a read. The query keeps a refusal. After an error of the
// query the call acts as nobody, so a handler reads all its parameters first.
func (c *call) readAs(q *api.Query, agent hub.AgentID) {
	if q.Err() == nil {
		q.Keep(c.actAs(agent))
	}
}

// view is readAs for the viewer, which it returns: the agent_id of the query or
// else the call's own agent. The operator may view as operator.
func (c *call) view(q *api.Query) hub.AgentID {
	agent := q.Agent("agent_id")
	c.name(&agent)
	if q.Err() == nil && agent.Reserved() && !c.caller.Operator {
		q.Keep(c.needsOperator("only the operator sees what " + string(agent) + " sees"))
	}
	c.readAs(q, agent)
	return agent
}

// parksRead is parks for a read that may wait. HEAD does not wait.
func (c *call) parksRead(wait *time.Duration) {
	if c.r.Method == http.MethodHead {
		*wait = 0
	}
	c.parks(*wait)
}

// parks prepares for an answer that may come only after wait: the deadline by which net/http
// reads counts from the request. The call keeps its turn until it really waits; see callTurn.
func (c *call) parks(wait time.Duration) {
	if wait <= 0 {
		return
	}
	// An error means that the connection is gone or belongs to a test; the write will show it.
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
}

// id parses a path parameter that is a message or task id.
func (c *call) id(name string, notFound hub.Code) (hub.MessageID, error) {
	id, ok := parseID(c.param)
	if !ok {
		return 0, hub.NewError(notFound, "there is no such id").With("field", name)
	}
	return id, nil
}

// parseID accepts only the canonical form of an id, so that each row has one
// path.
func parseID(text string) (hub.MessageID, bool) {
	const maxDigits = 16 // of 2^53-1
	if text == "" || len(text) > maxDigits || text[0] == '0' {
		return 0, false
	}
	var id hub.MessageID
	for _, b := range []byte(text) {
		if b < '0' || b > '9' {
			return 0, false
		}
		id = id*10 + hub.MessageID(b-'0')
	}
	return id, id <= hub.MaxMessageID
}
