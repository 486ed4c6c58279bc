package faults

// wakeFaults are mistakes in what wakes agents, by the place where they are made.
var wakeFaults = []fault{
	// Watches and what agents have seen.
	{
		"peek moves the seen cursor", "actors/seen.go",
		"if q.Since == 0 || q.Peek || q.ThreadID", "if q.Since == 0 || q.ThreadID",
		"actors", "TestUnreadCountsFromTheCursors",
	},
	{
		"seen cursor moves back", "actors/core/seen.go",
		"if id <= s.InChannel(c) {", "if id < 0 {",
		"actors/core", "TestSeenNeverMovesBack",
	},
	{
		"seen cursors not stored at a stop", "actors/seen.go",
		"	defer h.storeSeen()\n", "",
		"actors", "TestSeenSurvivesAStop",
	},
	{
		"watch does not hear of tasks", "actors/views.go",
		"scopes = append(scopes, taskScope(is.TaskID))", "_ = taskScope",
		"actors", "TestWatchEqualsEvaluation",
	},
	{
		"watch counts what was seen", "actors/watch_eval.go",
		"if c.latest[i] <= since[i] {", "if c.latest[i] < 0 {",
		"actors", "TestWatchEqualsEvaluation",
	},
	{
		"watch is met by one of its conditions", "actors/watch_eval.go",
		"got.Met = got.Met && state.Met", "got.Met = i > 0 && got.Met || state.Met",
		"actors", "TestConditions",
	},
	{
		"wake notice not posted", "actors/watch.go",
		"		h.notifyWatch(&got, q.Label)\n", "",
		"actors", "TestWatchWakes",
	},
	{
		"seat-idle sets no timer", "actors/watch_eval.go",
		"		if after > 0 && (again", "		if after > 1<<62 && (again",
		"actors", "TestSeatIdleByTime",
	},
	{
		"watch counts the unread at every ring", "actors/watch.go",
		"		got, again, err := w.evaluate()\n", "		got, again, err := w.evaluate()\n		_ = w.describe(&got)\n",
		"actors", "TestRingsCostTheSame",
	},
	{
		"older watch evicts the later", "actors/watch.go",
		"if w.query.Began < latest && latest <= now {", "if false && w.query.Began < latest && latest <= now {",
		"actors", "TestLaterWatchStays",
	},
	{
		"poll does not say what it has printed", "cli/poll.go",
		"			sayPrinted(ctx, env, c, q)\n", "			_ = sayPrinted\n",
		"cli", "TestPoll",
	},
	{
		"directed messages not shown by a watch", "actors/watch_eval.go",
		" || asksOf(m, u.agent)\n", "\n",
		"actors", "TestWatchShowsWhatIsDirected",
	},
	{
		"sibling session ends with each slice", "actors/watchers.go",
		"			left[agent] = time.Now()\n", "			left[agent] = time.Now()\n			h.endWatcher(agent)\n",
		"actors", "TestWatchOfSlices",
	},
	{
		"request of others named", "actors/watch_idle.go",
		"if request != nil && (w.operator ||", "if request != nil && (true || w.operator ||",
		"actors", "TestSeatIdleNamesWhatMayBeSeen",
	},

	{
		"answered message counts as unread", "actors/service_messages.go",
		"		h.noteReply(ctx, m.From, m.ReplyTo)\n", "",
		"actors", "TestAnsweredAsksNothingMore",
	},
	{
		"answer counts for all before it", "actors/seen.go",
		"return s.Answer(id) }", "return s.SawAll(id) }",
		"actors", "TestAnsweredAsksNothingMore",
	},

	// Hooks.
	{
		"turn held for what is being read", "integrations/hook/stop.go",
		"		fresh = r.unread(ctx, s, fresh)\n", "		_ = r.unread(ctx, s, fresh)\n",
		"integrations/hook", "TestStopWaitsForWhatIsBeingRead",
	},
	{
		"two hooks hold one turn", "integrations/hook/stop.go",
		"if !told.Moved {", "if false && !told.Moved {",
		"integrations/hook", "TestTwoRunsForOneEvent",
	},
	{
		"hook holds while a watch is armed", "integrations/hook/stop.go",
		"if a.Watching {", "if false && a.Watching {",
		"integrations/hook", "TestStopIsSilentWhileAWatchIsArmed",
	},
	{
		"hook speaks to sub-agents", "integrations/hook/run.go",
		"case r.payload.SubAgent:", "case false && r.payload.SubAgent:",
		"integrations/hook", "TestSilence",
	},
	{
		"role taken for a sub-agent", "integrations/hook/payload.go",
		`f.text("agent_id") != ""`, `f.text("agent_id", "agent_type") != ""`,
		"integrations/hook", "TestRoleIsNoSubAgent",
	},
	{
		"hook displaces a session", "integrations/hook/run.go",
		"replace := false", "replace := true",
		"integrations/hook", "TestSessionStartRegistersOnce",
	},
	{
		"two hooks make two agents", "integrations/hook/saved.go",
		"err = os.Link(temp, s.path(session))", "err = os.Rename(temp, s.path(session))",
		"integrations/hook", "TestTwoRunsForOneEvent",
	},
	{
		"peers write lines of their own", "integrations/hook/text.go",
		"case unicode.IsSpace(r) || unicode.IsControl(r):", "case r != '\\n' && (unicode.IsSpace(r) || unicode.IsControl(r)):",
		"integrations/hook", "TestQuote",
	},
	{
		"hook panics", "cli/hook.go",
		"if recover() != nil {", "if false && recover() != nil {",
		"cli", "TestHookOutlivesAPanic",
	},
	{
		"told messages hide the next", "actors/attention.go",
		"untold.after, told.head = u.seen.Told, ", "untold.after, told.head = 0, ",
		"actors", "TestAttentionGoesOn",
	},
}
