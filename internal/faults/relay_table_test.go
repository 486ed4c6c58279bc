package faults

// relayFaults are mistakes in the relay, by the place where they are made.
var relayFaults = []fault{
	// The relay.
	{
		"hard links are requests", "relay/take.go",
		"	case links != 1:\n", "	case false && links != 1:\n",
		"relay", "TestHostileFiles",
	},
	{
		"links to response folders are followed", "relay/folder.go",
		"	if !before.IsDir() {\n", "	if false {\n",
		"relay", "TestResponseFolderIsALink",
	},
	{
		"request removed before its response", "relay/deal.go",
		"	f.cfg.Step(StepTaken)\n", "	_ = t.remove(c.spool, c.dir.name)\n	f.cfg.Step(StepTaken)\n",
		"relay", "TestKilledAtEveryStep",
	},
	{
		"orphans left alone", "relay/folder.go",
		"k == kindUnderWay && !d.orphans {", "k == kindUnderWay {",
		"relay", "TestKilledAtEveryStep",
	},
	{
		"relayed without a key", "relay/send.go",
		"	if r.write() {\n		req.Header.Set(api.HeaderIdempotency", "	if false {\n		req.Header.Set(api.HeaderIdempotency",
		"relay", "TestKilledAtEveryStep",
	},
	{
		"relayed without saying so", "relay/send.go",
		"	req.Header.Set(api.HeaderRelay, string(r.AgentID))\n", "",
		"relay", "TestForwarderCarriesCalls",
	},
	{
		"requests of other forwarders are taken", "relay/take.go",
		"	if lockErr == nil && !locked {\n", "	if false && !locked {\n",
		"relay", "TestTwoForwarders",
	},
	{
		"any agent in any folder", "relay/request.go",
		"	if Folder(r.AgentID) != folder {\n", "	if false {\n",
		"relay", "TestMalformedRequests",
	},
	{
		"escaped paths pass", "relay/plane.go",
		"		bare = plain\n", "		_ = plain\n",
		"relay", "TestPlane",
	},
	{
		"redirects are followed", "relay/forwarder.go",
		"error { return http.ErrUseLastResponse }", "error { return nil }",
		"relay", "TestNotAHub",
	},
	{
		"forgotten requests are sent", "relay/deal.go",
		"age > maxRequestAge {", "age > 48*maxRequestAge {",
		"relay", "TestOldRequestsAreNotSent",
	},
	{
		"who waits keeps others out", "relay/crowd.go",
		"	for len(d.waiting) > 0 && d.parked < maxParked {\n", "	for len(d.waiting) > 0 {\n",
		"relay", "TestParkedPollsDelayNobody",
	},
	{
		"a relayed call names any agent", "httpapi/call.go",
		"	if c.caller.Relay != \"\" && c.caller.Relay != agent {\n", "	if false {\n",
		"httpapi", "TestRelayActsAsItsAgentAlone",
	},
	{
		"a relayed call closes any session", "actors/service_sessions.go",
		"relay != \"\" && relay != agent {", "false && relay != agent {",
		"httpapi", "TestRelayActsAsItsAgentAlone",
	},
	{
		"the operator's token passes the relay", "httpapi/guard.go",
		"	if _, ok := c.r.Header[api.HeaderOperator]; ok {\n", "	if false {\n",
		"httpapi", "TestRelayHasNoPower",
	},
	{
		"a session hides the relay", "hub/call.go",
		"	case c.Relay != \"\":\n		return AssuranceRelay\n", "",
		"httpapi", "TestRelayStandsForItsAgent",
	},
	{
		"any answer in the spool is taken", "relay/transport_exchange.go",
		"if b.why = got.fault(b.id); b.why != \"\" {", "if false {",
		"relay", "TestTransportOnlyTakesAnswers",
	},
	{
		"the answer of an earlier call is taken", "relay/transport_exchange.go",
		"	b.setAside()\n", "",
		"relay", "TestTransportForgetsOldAnswers",
	},
	{
		"a response is removed before its request", "relay/transport_exchange.go",
		"	_ = b.root.Remove(b.request(workSuffix))\n", "",
		"relay", "TestRefusalIsNotCarriedOutLater",
	},
	{
		"what is given up stays in the spool", "relay/transport_exchange.go",
		"	withdrawn := b.root.Remove(b.request(doneSuffix)) == nil\n", "	withdrawn := true\n",
		"relay", "TestTransportWithdraws",
	},
	{
		"a slice begins where the last one did", "relay/transport_poll.go",
		"		if next > 0 {\n", "		if false {\n",
		"relay", "TestTransportSlicesWaits",
	},
	{
		"a claim that is granted while it is held goes unnoticed", "cli/smoke/leases.go",
		"	if got.Acquired || got.Row.OwnerAgentID != p.owner {\n", "	if false {\n",
		"cli/smoke", "TestLiesAreNoticed",
	},
	{
		"a rollup that does not come goes unnoticed", "cli/smoke/tasks.go",
		"	if row.Status != hub.TaskDone || row.CompletedAt == nil {\n", "	if false {\n",
		"cli/smoke", "TestLiesAreNoticed",
	},
}
