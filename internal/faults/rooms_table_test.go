package faults

// roomFaults are mistakes in rooms and what is in them, by the place where they are made.
var roomFaults = []fault{
	// Projects, rooms and folders.
	{
		"look-alike made unasked", "actors/core/project.go",
		"if len(similar) > 0 && !in.Force {", "if false && len(similar) > 0 && !in.Force {",
		"httpapi", "TestWalk",
	},
	{
		"siblings look alike", "actors/core/similar.go",
		"	if a.digits != b.digits {\n		return 0\n	}\n", "",
		"actors/core", "TestLikeness",
	},
	{
		"slug given twice", "actors/core/project.go",
		"if id, taken := p.atlas.slugs[in.Slug]; taken {", "if id, taken := p.atlas.slugs[in.Slug]; false && taken {",
		"actors/core", "TestProjectProperties",
	},
	{
		"shared binding before the folder's own", "actors/core/binding.go",
		"		for _, b := range a.bound[plainKey(l.Plain)] {\n			c := Candidate", "		for _, b := range a.bound[plainKey(l.Plain)+l.Common] {\n			c := Candidate",
		"actors/core", "TestCandidates",
	},
	{
		"binding stays after it was taken back", "actors/core/binding.go",
		"	if was != nil {\n		for i := range was.Folders {", "	if false && was != nil {\n		for i := range was.Folders {",
		"actors/core", "TestBindingProperties",
	},
	{
		"index passes what is in doubt", "actors/indexdoubt.go",
		"		at.Seq = min(at.Seq, seq-1)", "		at.Seq = min(at.Seq, seq+1<<20)",
		"persistence/search", "TestSearchSaysWhatIsInDoubt",
	},
	{
		"index waits for rows that never come", "actors/indexdoubt.go",
		"	delete(x.held, k)\n", "",
		"persistence/search", "TestSearchGoesOnAfterAQuarantine",
	},
	{
		"store keeps its earlier format", "persistence/store.go",
		"	return s.raiseFormat()\n", "	return nil\n",
		"persistence", "TestFormatRises",
	},
	{
		"rebuild shows old tasks", "actors/rebuild.go",
		"	rows := latest(derived)\n", "	rows := derived\n	_ = latest\n",
		"actors", "TestRebuildShowsNoOldTask",
	},
	{
		"folder bound to two rooms", "actors/core/binding.go",
		"		case holds && same == nil:", "		case false && holds && same == nil:",
		"actors/core", "TestBindAndUnbind",
	},
	{
		"binding made meanwhile is not looked at", "actors/core/binding.go",
		"		case !looked:", "		case false && !looked:",
		"actors", "TestBindingsMadeAtOnce",
	},
	{
		"look of another spelling is taken for the folder", "actors/service_bindings.go",
		"err != nil || !same {", "err != nil || false && !same {",
		"actors", "TestSpellingsAreAskedFor",
	},
	{
		"linked work trees are strangers", "integrations/folders/git.go",
		"		common = named\n", "		_ = named\n",
		"integrations/folders", "TestWorkTrees",
	},
	{
		"a file system hangs its caller", "integrations/folders/folders.go",
		"		return a.v, a.err\n	case <-timeout.C:\n		return none, errHangs()\n", "		return a.v, a.err\n",
		"integrations/folders", "TestHungFileSystem",
	},
	{
		"rooms lost at a start", "actors/restore.go",
		"	h.views.places.restore(r.projects.Atlas())\n", "",
		"actors", "TestInvariant6ReplayEqualsLiveUnderRandomDelay",
	},
	{
		"resolve without a budget", "cli/resolve.go",
		"c.Resolve(within, path)", "c.Resolve(ctx, path)",
		"cli", "TestResolveOfAHostThatSwallowsPackets",
	},

	// Runs, hand-offs, seats.
	{
		"run reopened from an old row", "actors/core/run.go",
		"ended == nil || ended.Known != t.runEnded", "ended == nil",
		"actors/core", "TestRunIsReopenedFromItsLatestRow",
	},
	{
		"run not counted", "actors/core/task_fact.go",
		"	t.countInRun(task, was, at, rows)\n", "	_ = was\n",
		"actors/core", "TestTaskProperties",
	},
	{
		"parents do not wait", "actors/core/task_update.go",
		"parent := t.live[value(next.Task.ParentTaskID)]; parent != nil", "parent := t.live[value(next.Task.ParentTaskID)]; false && parent != nil",
		"actors/core", "TestTaskTranscripts",
	},
	{
		"claims on anything", "actors/veil.go",
		"	if err == nil && !known {\n", "	if false {\n",
		"actors", "TestClaimsOnTasksOfOthers",
	},
	{
		"blockers shown to all", "actors/veil.go",
		"if len(doubtful) == 0 || sees.all {", "if true {",
		"actors", "TestBlockedByHidesTasksOfOthers",
	},
	{
		"task taken from who has it", "actors/core/task_assign.go",
		"	if !task.disposes(by) {\n", "	if false {\n",
		"actors", "TestAssigningATask",
	},
	{
		"who was asked forgotten", "actors/core/task_fact.go",
		"	if f.Direct {\n		t.Asked = f.Assignee\n	}\n", "",
		"actors", "TestWhoWasAskedGoesOnSeeingATask",
	},
	{
		"asks beyond the limits", "actors/handed_on.go",
		"left -= utf8.RuneCount(quoted) -", "left -= min(1, utf8.RuneCount(quoted)) + 0*",
		"actors", "TestAsksKeepTheLimits",
	},
	{
		"offer accepted by anybody", "actors/core/task_handoff.go",
		"if value(task.Task.OfferedTo) != by {", "if false {",
		"actors/core", "TestTaskProperties",
	},
	{
		"offer outlives the assignee", "actors/core/task_fact.go",
		"row.Assignee, row.OfferedTo = optional(*f.Assignee), nil", "row.Assignee = optional(*f.Assignee)",
		"actors/core", "TestTaskTranscripts",
	},
	{
		"runs lost at a start", "actors/restore.go",
		"		h.views.runs.put(run)\n", "		_ = run\n",
		"actors", "TestInvariant6ReplayEqualsLiveUnderRandomDelay",
	},
	{
		"a poll is work", "actors/presence.go",
		"	if poll {\n", "	if false {\n",
		"actors", "TestSeatThroughTheDay",
	},
	{
		"hidden task on a seat", "actors/seats.go",
		"Status == status && sees.task(&tasks[i])", "Status == status",
		"actors", "TestSeatShowsNoHiddenTask",
	},
	{
		"tail of a room taken for all", "actors/seats.go",
		"cut && n < hub.MaxUnread", "false && cut",
		"actors", "TestUnreadOfSeats",
	},

	// Search and memory.
	{
		"parties not asked for", "persistence/search/find.go",
		"if field == fieldDirect && !f.q.Operator {", "if false && !f.q.Operator {",
		"persistence/search", "TestFindIsWhatAScanFinds",
	},
	{
		"direct messages move scores", "persistence/search/find.go",
		"r, err := f.reader.TermFieldReader(f.ctx, []byte(term), fieldPublic, false, false, false)", "r, err := f.reader.TermFieldReader(f.ctx, []byte(term), fieldDirect, false, false, false)",
		"persistence/search", "TestFindIsWhatAScanFinds",
	},
	{
		"position ahead of the words", "persistence/search/index.go",
		"binary.BigEndian.PutUint64(at[:], uint64(upto.Message))", "binary.BigEndian.PutUint64(at[:], uint64(upto.Message)+1)",
		"persistence/search", "TestKilled",
	},
	{
		"files mapped without a look", "persistence/search/open.go",
		"err := verify(x.enginePath())", "err := error(nil)",
		"persistence/search", "TestOpen",
	},
	{
		"feeding the index does not rest", "actors/pace.go",
		"took *= busyRest", "took /= busyRest",
		"actors", "TestFeedingYieldsToPosts",
	},
	{
		"feeding rests for ever", "actors/pace.go",
		"return min(took, maxRest)", "return 100 * took",
		"actors", "TestFeedingYieldsToPosts",
	},
	{
		"a search does not end the rest", "actors/indexer.go",
		"		poke(x.hurry)\n", "",
		"actors", "TestSearchWaitsForWhatWasPosted",
	},
	{
		"a full disk is fed", "actors/indexer.go",
		"if ok, _ := x.hub.journal.Room(); !ok {", "if ok, _ := x.hub.journal.Room(); false && !ok {",
		"actors", "TestFullDiskPausesFeeding",
	},
	{
		"common words cost as many as there are", "persistence/search/find.go",
		"all[:min(len(all), none+maxAnyWords)]", "all",
		"persistence/search", "TestAnyOfTheRarest",
	},
	{
		"replaced memories count", "actors/core/memory.go",
		"		m.kept--\n", "",
		"actors/core", "TestMemoryIsItsRows|TestMemoryLimit",
	},
	{
		"search does not wait", "actors/service_search.go",
		"h.indexer.await(ctx, searchFresh)", "h.indexer.await(ctx, 0)",
		"persistence/search", "TestWhatIsAcknowledgedIsFound",
	},

	// Invites, joining, artifacts.
	{
		"relay header of another machine believed", "httpapi/guard.go",
		"	if !c.local {\n		return hub.NewError(hub.CodeForbiddenRelay", "	if false {\n		return hub.NewError(hub.CodeForbiddenRelay",
		"httpapi", "TestRelayFromAnotherMachine",
	},
	{
		"spool lifts a session", "actors/names.go",
		"return agent != \"\" && hub.CallerOf(ctx).Agent == agent", "return agent != \"\" && (hub.CallerOf(ctx).Agent == agent || hub.CallerOf(ctx).Relay == agent)",
		"httpapi", "TestRelayLiftsNoSession",
	},
	{
		"name with an inbox handed on", "actors/names.go",
		"		written = true\n", "",
		"actors", "TestNamesOfAgentsThatNeverRegistered",
	},
	{
		"hub says a stranger's words", "actors/core/artifact.go",
		"m.Metadata = naming(\"decision\", id); by.Agent == \"\" {", "m.Metadata = naming(\"decision\", id); false {",
		"httpapi", "TestTheHubSpeaksInItsOwnWords",
	},
	{
		"text before the folder", "actors/core/binding.go",
		"	for _, plain := range c.Plain {\n", "	for _, plain := range c.Plain[:0] {\n",
		"actors/core", "TestUnbindTakesOneBinding",
	},
	{
		"full room frees the latest seat", "actors/core/seat.go",
		"ok && !madeBefore(s, first)", "ok && madeBefore(s, first)",
		"actors/core", "TestFullRoomMakesRoom",
	},
	{
		"page begins anew", "actors/service_records.go",
		"	return seq, nil\n", "	return seq + 1, nil\n",
		"httpapi", "TestPagesBefore",
	},
	{
		"spool binds folders", "actors/service_bindings.go",
		"	if hub.CallerOf(ctx).Relay != \"\" {", "	if false {",
		"httpapi", "TestWalk",
	},
	{
		"use of an invite not counted", "actors/core/invite.go",
		"Uses: invite.Uses + 1}", "Uses: invite.Uses}",
		"actors/core", "TestRoomIsItsRows",
	},
	{
		"invite good beyond its time", "actors/core/invite.go",
		"return now.HubMS >= i.DeadlineMS", "return now.HubMS > i.DeadlineMS",
		"actors", "TestInviteExpiresExactly",
	},
	{
		"expiry told before it is stored", "actors/service_join.go",
		"if failed := h.expireInvites(invite.RoomID); failed != nil {", "if failed := error(nil); failed != nil {",
		"actors", "TestInviteExpiresExactly",
	},
	{
		"live agent evicted by a joiner", "actors/service_join.go",
		"		keep := false\n", "		keep := true\n",
		"actors", "TestJoinersNames",
	},
	{
		"secrets of a live agent shown to a joiner", "actors/service_join.go",
		"return hub.Registered{Session: live}, nil", "return h.secrets().reveal(live), nil",
		"actors", "TestJoinersNames",
	},
	{
		"session of a joiner begun twice", "actors/service_join.go",
		"hub.WithCaller(ctx, &hub.Caller{Idempotency: key})", "hub.WithCaller(ctx, &hub.Caller{Session: hub.SessionID(key.Path)})",
		"actors", "TestAcceptGoesOnAfterACrashBetweenItsSteps",
	},
	{
		"content lost where Apply panics", "actors/owner.go",
		"if d.Content != nil {", "if d.Content != nil && o.doubt == nil {",
		"actors", "TestArtifactSurvivesAPanicInApply",
	},
	{
		"wrong codes cost nothing", "httpapi/attempts.go",
		"		c.server.attempts.wrong(sources, time.Now())\n", "",
		"httpapi", "TestWrongCodes",
	},
}
