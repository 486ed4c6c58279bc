package httpapi

import (
	"net"
	"net/http"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/hubfile"
)

func sessionHandlers() handlers {
	return handlers{
		"getHealth":       getHealth,
		"getMetrics":      getMetrics,
		"getReadiness":    getReadiness,
		"listAgents":      listAgents,
		"getAppStatus":    getAppStatus,
		"getBootstrap":    getBootstrap,
		"listChannels":    listChannels,
		"createChannel":   createChannel,
		"archiveChannel":  archiveChannel,
		"getHubInfo":      getHubInfo,
		"getOpenAPI":      getOpenAPI,
		"register":        register,
		"renameSession":   renameSession,
		"endSession":      endSession,
		"listIdleAgents":  listIdleAgents,
		"retireAgent":     retireAgent,
		"getRecipient":    getRecipient,
		"listUndelivered": listUndelivered,
		"closeSession":    closeSession,
		"resumeSession":   resumeSession,
		"getShutdown":     getShutdown,
		"shutdown":        postShutdown,
		"cancelShutdown":  cancelShutdown,
	}
}

func register(c *call) (reply, error) {
	var in hub.RegisterInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateRegister(&in); err != nil {
		return reply{}, err
	}
	if err := c.othersSession(in.AgentID); err != nil {
		return reply{}, err
	}
	if err := c.actAs(in.AgentID); err != nil {
		return reply{}, err
	}
	out, err := c.service().Register(c.context(), in)
	return added(out), err
}

// othersSession returns an error if the call registers agent but proves a
// session of another agent. An invalid session proves nothing and does not
// prevent registering again.
func (c *call) othersSession(agent hub.AgentID) error {
	full := c.r.Header.Get(api.HeaderSession)
	if full == "" {
		return nil
	}
	caller, err := c.server.config.Sessions.Authenticate(c.r.Context(), hub.SessionID(full))
	if err != nil || caller.Agent == agent {
		return nil
	}
	return hub.NewError(hub.CodeAgentMismatch, "the call registers one agent but proves a session of another").
		With("agent_id", agent).With("session_agent_id", caller.Agent).
		WithFix("send no session to register another agent")
}

func resumeSession(c *call) (reply, error) {
	var in hub.ResumeInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateResume(&in); err != nil {
		return reply{}, err
	}
	out, err := c.service().Resume(c.context(), in)
	c.agent = out.Row.AgentID
	return added(out), err
}

func endSession(c *call) (reply, error) {
	agent := hub.AgentID(c.param)
	if err := hub.CheckSender("agent_id", agent); err != nil {
		return reply{}, err
	}
	var in hub.SessionEndInput
	return writeRow(c, &in, nil, anyone(api.ValidateSessionEnd), of(agent, c.service().EndSession), changed)
}

func renameSession(c *call) (reply, error) {
	agent := hub.AgentID(c.param)
	if err := hub.CheckSender("agent_id", agent); err != nil {
		return reply{}, err
	}
	var in hub.RenameInput
	if err := c.input(&in, &agent, func() error { return api.ValidateRename(&in) }); err != nil {
		return reply{}, err
	}
	out, err := c.service().Rename(c.context(), agent, in)
	return changed(out), err
}

// closeSession takes the full form of the id, or from the operator the public
// form. A peer on another machine may close its own session only.
func closeSession(c *call) (reply, error) {
	id := hub.SessionID(c.param)
	if c.caller.Session != "" && c.caller.Session != id.Public() {
		return reply{}, hub.NewError(hub.CodeAgentMismatch, "the call may close its own session only").
			WithFix("close a session with that session itself")
	}
	c.agent = c.own()
	query := c.query()
	successor := query.Agent("successor")
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if successor != "" {
		if err := hub.CheckSender("successor", successor); err != nil {
			return reply{}, err
		}
	}
	out, err := c.service().CloseSession(c.context(), id, successor)
	return changed(out), err
}

func listAgents(c *call) (reply, error) {
	query := c.query()
	q := hub.AgentsQuery{
		Capability: query.Text("capability"),
		Prefix:     query.Name("prefix", hub.MaxNameChars),
		RoomID:     hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Details:    query.Bool("details"),
	}
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	as := query.Agent("as")
	c.name(&as)
	c.readAs(query, as)
	return readList(c, query, q, c.service().Agents)
}

func getBootstrap(c *call) (reply, error) {
	query := c.query()
	agent := c.reader(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	row, err := c.service().Bootstrap(c.context(), agent)
	row.LiveAgents = list(row.LiveAgents)
	return reply{result: row}, err
}

func listChannels(c *call) (reply, error) {
	query := c.query()
	q := hub.ChannelsQuery{Prefix: query.Name("prefix", hub.MaxNameChars), CreatedBy: query.Agent("created_by"), Archived: query.Bool("archived")}
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	c.readAs(query, c.own())
	return readList(c, query, q, c.service().Channels)
}

func archiveChannel(c *call) (reply, error) {
	var in hub.ChannelArchiveInput
	return writeRow(c, &in, nil, anyone(api.ValidateChannelArchive), c.service().ArchiveChannel, changed)
}

func createChannel(c *call) (reply, error) {
	var in hub.ChannelInput
	return writeRow(c, &in, &in.CreatedBy, api.ValidateChannel, c.service().CreateChannel, created)
}

func getHealth(*call) (reply, error) {
	return reply{result: map[string]string{"status": "ok"}}, nil
}

// getReadiness says whether the hub takes writes.
func getReadiness(c *call) (reply, error) {
	select {
	case <-c.server.stopping:
		return reply{}, hub.NewError(hub.CodeStopping, "the hub is stopping").WithRetryAfter(1)
	default:
	}
	status, err := c.server.config.Status.AppStatus(c.context())
	if err != nil {
		return reply{}, err
	}
	switch status.Journal.State {
	case hub.JournalFull:
		return reply{}, hub.NewError(hub.CodeStorageFull, "the store's disk is full: the hub answers reads only").
			With("free_bytes", status.Journal.FreeBytes).WithFix("free space on the disk of the store")
	case hub.JournalFailed:
		return reply{}, hub.NewError(hub.CodeStoreFailed, "the store failed: the hub is about to exit").
			WithFix("see the hub's log")
	case hub.JournalOK:
	}
	return reply{result: map[string]string{"status": "ready"}}, nil
}

func getHubInfo(c *call) (reply, error) {
	q := c.query()
	nonce := q.Text("nonce")
	if nonce != "" {
		q.Keep(api.CheckNonce("nonce", nonce))
	}
	if err := q.Err(); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Status.Info(c.context())
	row.Features = list(row.Features)
	row.Proof = c.prove(nonce)
	if c.caller.User != "" {
		row.HubUser = c.server.config.Peers.Status().Own.Name
	}
	return reply{result: row}, err
}

// prove answers a challenge, for the connection that it came on. A call
// through a spool comes on the forwarder's connection, which is not the agent's.
func (c *call) prove(nonce string) string {
	local, ok := c.r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if nonce == "" || !ok || c.caller.Relay != "" || len(c.server.config.ProofKey) == 0 {
		return ""
	}
	return hubfile.Proof(c.server.config.ProofKey, nonce, local.AddrPort(), c.server.config.InstanceID)
}

func getAppStatus(c *call) (reply, error) {
	row, err := c.server.config.Status.AppStatus(c.context())
	row.Quarantined, row.Adapters, row.Asleep = list(row.Quarantined), list(row.Adapters), list(row.Asleep)
	return reply{result: row}, err
}

func getMetrics(c *call) (reply, error) {
	c.server.metrics.ServeHTTP(c.w, c.r)
	return reply{done: true}, nil
}

func getOpenAPI(c *call) (reply, error) {
	send(c.w, c.w.Header(), http.StatusOK, api.OpenAPI())
	return reply{done: true}, nil
}

func getShutdown(c *call) (reply, error) {
	return oneRow(c.server.config.Control.ShutdownState(c.context()))
}

func postShutdown(c *call) (reply, error) {
	var in hub.ShutdownInput
	return writeRow(c, &in, nil, anyone(api.ValidateShutdown), c.server.config.Control.Shutdown, plain)
}

func cancelShutdown(c *call) (reply, error) {
	return oneRow(c.server.config.Control.CancelShutdown(c.context()))
}

// longestIdle bounds how long an agent may be asked to have been idle: a hundred years.
const longestIdle = 100 * 365 * 24 * 60 * 60

func listIdleAgents(c *call) (reply, error) {
	query := c.query()
	q := hub.IdleAgentsQuery{IdleSec: query.Count("idle_sec", hub.DefaultRetireSec, longestIdle)}
	return readRow(c, query, q, c.service().IdleAgents)
}

func listUndelivered(c *call) (reply, error) {
	var q hub.UndeliveredQuery
	query := c.query()
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	return readList(c, query, q, c.service().Undelivered)
}

func getRecipient(c *call) (reply, error) {
	agent := hub.AgentID(c.param)
	if err := hub.CheckAgentID("agent_id", agent); err != nil {
		return reply{}, err
	}
	return readRow(c, c.query(), agent, c.service().Recipient)
}

func retireAgent(c *call) (reply, error) {
	agent := hub.AgentID(c.param)
	if err := hub.CheckSender("agent_id", agent); err != nil {
		return reply{}, err
	}
	var in hub.RetireInput
	return writeRow(c, &in, nil, anyone(api.ValidateRetire), of(agent, c.service().Retire), changed)
}
