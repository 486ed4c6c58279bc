package faults

// mcpFaults are mistakes in the bridge to harnesses and what belongs to it, by the
// place where they are made.
var mcpFaults = []fault{
	// The bridge and its identity.
	{
		"frames pass unchecked", "mcp/frames.go",
		"if err != nil || message[0] != '{' {", "if false && (err != nil || message[0] != '{') {",
		"mcp", "TestFilter",
	},
	{
		"default name displaces", "mcp/identity.go",
		"		replace := c.force\n", "		replace := c.force || c.yields\n",
		"mcp", "TestDefaultNameNeverDisplaces",
	},
	{
		"displaced bridge fights", "mcp/link.go",
		"l.now, l.last, l.ended = nil, nil, replaced(s.agent)", "l.now, l.last = nil, nil",
		"mcp", "TestNamedAgentReplacesAndTheDisplacedSaysSo",
	},
	{
		"resumed session not kept", "mcp/identity.go",
		"	s.joined, s.remark = prior.joined, prior.remark\n	return l.keep(s), nil\n", "	s.joined, s.remark = prior.joined, prior.remark\n	return s, nil\n",
		"mcp", "TestSlotResumesTheJoinedIdentity",
	},
	{
		"slot that others read is trusted", "integrations/hook/trust.go",
		"	case permissions(info)&others != 0:", "	case permissions(info)&others&0o022 != 0:",
		"mcp", "TestSlotThatCannotBeTrustedIsRefused",
	},
	{
		"slot is not locked", "mcp/slot.go",
		"	if err == nil && got {", "	if err == nil && (got || true) {",
		"mcp", "TestTwoBridgesOnOneSlot",
	},
	{
		"join under way forgotten", "mcp/identity.go",
		"	if kept.Pending != nil {", "	if false && kept.Pending != nil {",
		"mcp", "TestJoinIsFinishedAfterADeath",
	},
	{
		"looking counts as reading", "mcp/link.go",
		"Limit: 1, Peek: true}", "Limit: 1}",
		"mcp", "TestStayingIsLifeAndNothingElse",
	},
	{
		"cursors of another store", "mcp/link.go",
		"	l.b.feeds.forget()\n", "",
		"mcp", "TestOtherStoreRegistersAnewAndSaysSo",
	},
	{
		"room of another store", "mcp/link.go",
		"	l.b.homes.forget()\n", "",
		"mcp", "TestOtherStoreForgetsTheRoom",
	},
	{
		"join takes the brief for seen", "actors/seen.go",
		"h.noteBootstrap(ctx, agent, first-1)", "h.noteBootstrap(ctx, agent, head)",
		"actors", "TestJoinLeavesWhatAsksUnread",
	},
	{
		"cancelled answer moves the cursor", "mcp/exchange.go",
		"	if a.Error != nil || r.cancelled {\n", "	if a.Error != nil {\n",
		"mcp", "TestCancellationTakesBackItsOwn",
	},
	{
		"hub told before a cancellation can cross", "mcp/feeds.go",
		"if m.feed == of && (m.written.IsZero() || ", "if m.feed == of && (m.written.IsZero() && ",
		"mcp", "TestFeedsNeverSkip",
	},
	{
		"hub not told what was read", "mcp/link.go",
		"	l.work.Go(l.report)\n", "",
		"mcp", "TestHubHearsWhatWasRead",
	},
	{
		"what was read counts as unread", "mcp/tools_agents.go",
		"	c.bridge.caughtUp(ctx, c.at)\n", "",
		"mcp", "TestWhatWasReadIsNotUnread",
	},
	{
		"id of no message yet is waited behind", "mcp/tools_poll.go",
		"if err == nil && *given > a.HeadID {", "if false && *given > a.HeadID {",
		"mcp", "TestSinceIDTakesNothingAway",
	},
	{
		"given id counts as seen", "mcp/tools_poll.go",
		"	r.q.Peek = r.given && r.since != at || !heard\n", "	r.q.Peek = !heard\n",
		"mcp", "TestSinceIDTakesNothingAway",
	},
	{
		"id that the SDK cannot hold", "mcp/frames.go",
		"	case has && !ownID(raw):", "	case false && !ownID(raw):",
		"mcp", "TestOneAnswerUnderTheOwnID",
	},
	{
		"ping introduces the client", "mcp/server.go",
		"info != nil || method == \"tools/call\" {", "info != nil || true {",
		"mcp", "TestPingIsNoIntroduction",
	},
	{
		"bridge that is gone counts", "integrations/hook/notes.go",
		"runs && now.Began == note.Bridge.Began {", "runs && now.Began != \"\" {",
		"integrations/hook", "TestHooksFindTheBridgeOfTheirHarness",
	},
	{
		"hook goes by another session's bridge", "integrations/hook/notes.go",
		"			return !goesOn(at)", "			return false",
		"integrations/hook", "TestWhoseNoteCounts",
	},
	{
		"hook goes by the bridge of an outer harness", "integrations/hook/notes.go",
		"near := len(within(above))", "near := len(above)",
		"integrations/hook", "TestWhoseNoteCounts",
	},
	{
		"hook line without its data root", "integrations/adapter/piece.go",
		"	if e.DataRoot != \"\" {\n		line +=", "	if false {\n		line +=",
		"integrations/adapter", "TestHookLinesNameTheDataRoot",
	},
	{
		"command that ends the bridge is offered", "integrations/hook/run.go",
		"	if r.bridged {\n		return true\n	}\n", "	if r.bridged {\n		return false\n	}\n",
		"integrations/hook", "TestWhoHasABridgeIsToldOfItsTools",
	},
	{
		"note in a folder of many is believed", "integrations/hook/notes.go",
		"	if !trusts(n.Dir, n.Tell) || !trusts(path, n.Tell) {", "	if !trusts(path, n.Tell) {",
		"integrations/hook", "TestWhatOthersCanHaveWrittenIsIgnored",
	},
	{
		"binding that others wrote is believed", "integrations/hook/saved.go",
		"|| !trusts(s.path(session), s.tell) {", "{",
		"integrations/hook", "TestWhatOthersCanHaveWrittenIsIgnored",
	},
	{
		"session outlives its client", "mcp/bridge.go",
		"	b.link.close()\n", "",
		"mcp", "TestSessionEndsWithTheClient",
	},
}
