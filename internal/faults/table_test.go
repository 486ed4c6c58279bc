package faults

// The mistakes, by the place where they are made.
var faults = []fault{
	// The way of a write.
	{
		"answer before durable", "actors/writer.go",
		"		w.step(StepAppending)\n",
		"		w.step(StepAppending)\n		for _, s := range slots {\n			if s.deliver != nil {\n				s.deliver(nil)\n				s.deliver = nil\n			}\n		}\n",
		"actors", "TestFailStop",
	},
	{
		"head moves before append", "actors/writer.go",
		"		w.step(StepAppending)\n",
		"		for _, s := range slots {\n			if s.record != nil {\n				w.views.ring.append(s.record.Messages)\n			}\n		}\n		w.step(StepAppending)\n",
		"actors", "TestInvariant1SyncedBeforeVisibleBeforeAcknowledged",
	},
	{
		"append error ignored", "actors/writer.go",
		"if err := w.journal.Append(group); err != nil {", "if err := w.journal.Append(group); false && err != nil {",
		"actors", "TestFailStop",
	},
	{
		"bells not rung", "actors/writer.go",
		"	w.waker.add(w.scopes)\n", "",
		"actors", "TestOnePostWakesAllWhoWait",
	},
	{
		"fence not raised", "actors/sequencer.go",
		"q.head.Fence += hub.Fence(fences)", "q.head.Fence += 0 * hub.Fence(fences)",
		"actors", "TestWaitersAreServedInTheirOrder",
	},
	{
		"message ids not raised", "actors/sequencer.go",
		"q.head.Message += hub.MessageID(messages)", "q.head.Message += hub.MessageID(min(messages, 1))",
		"actors", "TestInvariant1AcknowledgedSurvivesCrashAtEveryStep",
	},
	{
		"incarnation not checked", "actors/sequencer.go",
		"if proof.incarnation != 0 && q.incarnations", "if false && q.incarnations",
		"actors", "TestRacingWriteOfDisplacedSessionIsRefused",
	},
	{
		"incarnations forgotten at start", "actors/restore.go",
		"h.seq.incarnations[p.session.AgentID] = p.session.Incarnation", "_ = p",
		"actors", "TestInvariant6ReplayEqualsLiveUnderRandomDelay",
	},
	{
		"slot in the making answered twice", "actors/sequencer.go",
		"return !s.ready })", "return false })",
		"actors", "TestSlotInTheMakingIsAnsweredByItsOwner",
	},
	{
		"numbered after failure", "actors/sequencer.go",
		"	if q.failed != nil {\n		return q.failed\n	}\n	if proof", "	if proof",
		"actors", "TestSlotInTheMakingIsAnsweredByItsOwner",
	},
	{
		"refusal does not wait", "actors/submit.go",
		"a.hub.seq.after(a.restsOn(o), func(failed error) {\n		if failed", "a.hub.seq.after(0, func(failed error) {\n		if failed",
		"actors", "TestInvariant5AnswersWaitForWhatTheyRestOn",
	},
	{
		"answer without effect does not wait", "actors/submit.go",
		"a.hub.seq.after(a.restsOn(o), func(failed error) { a.finish", "a.hub.seq.after(0, func(failed error) { a.finish",
		"actors", "TestInvariant5AnswersWaitForWhatTheyRestOn",
	},
	{
		"lease answer does not wait for its own key", "actors/service_leases.go",
		"return o.leases.changes[k] },", "return 0 * o.leases.changes[k] },",
		"actors", "TestInvariant5AnswersWaitForWhatTheyRestOn",
	},

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

	// Idempotency.
	{
		"effect not stored", "actors/submit.go",
		"			if a.effect.key != nil {\n", "			if false && a.effect.key != nil {\n",
		"actors", "TestIdempotentWriteHappensOnce",
	},
	{
		"other body taken", "actors/submit.go",
		"if stored.Body != key.Hash {", "if false && stored.Body != key.Hash {",
		"actors", "TestIdempotentWriteHappensOnce",
	},
	{
		"scope without agent", "actors/submit.go",
		"	who := string(agent)\n", "	who := string(agent[:0])\n",
		"actors", "TestIdempotencyScope",
	},
	{
		"key not freed", "actors/submit.go",
		"	a.effect.free(a.hub)\n	a.returnPermit()\n", "	a.returnPermit()\n",
		"actors", "TestRefusalIsNotStored",
	},
	{
		"secret in the stored answer", "actors/service_sessions.go",
		"r.SessionID = r.SessionID.Public(); return", "return",
		"actors", "TestIdempotentWriteHappensOnce",
	},
	{
		"replayed lease says what it was", "actors/service_leases.go",
		"holds := lease.Ended == nil && lease.Agent == agent &&", "holds := lease.Ended == nil &&",
		"actors", "TestReplayOfLeaseShowsTheCurrentRow",
	},

	// Admission and supervision.
	{
		"permit not returned", "actors/submit.go",
		"		a.hub.registry.done(a.permit)\n", "",
		"actors", "TestExpiredCommandIsDropped",
	},
	{
		"no share per owner", "actors/registry.go",
		"o.bytes+n > maxCommandBytes/ownerShare && o.commands > 0", "false",
		"actors", "TestOverloadedByBytes",
	},
	{
		"idle owners kept", "actors/registry.go",
		"if sh.idle.Len() > idlePerShard {", "if sh.idle.Len() > 1000*idlePerShard {",
		"actors", "TestInvariant8MemoryIsBounded",
	},
	{
		"expired command decides", "actors/submit.go",
		"	if a.expired() {\n", "	if false && a.expired() {\n",
		"actors", "TestExpiredCommandIsDropped",
	},
	{
		"decides on a state in doubt", "actors/owner.go",
		"for o.doubt != nil && o.quarantined == nil {", "for false {",
		"actors", "TestPanicInApplyRebuildsTheOwner",
	},
	{
		"rebuild from the first record", "actors/rebuild.go",
		"asOf = max(asOf, o.doubtSeq-1)", "asOf = max(asOf, 0)",
		"actors", "TestRebuildOfAgentNeedsNoOldRecords",
	},
	{
		"rebuilt rows not stored", "actors/rebuild.go",
		"PutRows(append(rows, doubtMark(o.key, 0)))", "PutRows([]core.Row{doubtMark(o.key, 0)})",
		"actors", "TestRebuildRestoresRows",
	},
	{
		"waiters forgotten at a rebuild", "actors/rebuild.go",
		"	o.settle()\n", "",
		"actors", "TestWaitersOutliveRebuild|TestExpiryGoesOnAfterRebuild",
	},
	{
		"waiter served twice by a rebuild", "actors/owner_leases.go",
		"		if o.prepare() != nil {\n			return\n		}\n		w := o.leases.queue.Front(k)\n", "		w := o.leases.queue.Front(k)\n		if o.prepare() != nil {\n			return\n		}\n",
		"actors", "TestWaitersOutliveRebuild",
	},
	{
		"quarantine not durable", "actors/rebuild.go",
		"	value, err := json.Marshal(row)\n	if err == nil {", "	value, err := json.Marshal(row)\n	if value == nil {",
		"actors", "TestQuarantineThatCannotBeMarkedIsFailStop",
	},
	{
		"late waiter parks behind the stop", "actors/owner_leases.go",
		"a.wait > 0 && !h.stopping.Load() &&", "a.wait > 0 &&",
		"actors", "TestStopLeavesNoLateWaiter",
	},
	{
		"stop does not drain", "actors/hub.go",
		"err := h.drain(ctx)", "err := error(nil)",
		"actors", "TestStopLeavesNoLateWaiter",
	},

	// Reading.
	{
		"exclude_self inverted", "actors/feed.go",
		"m.From != f.exclude", "m.From == f.exclude",
		"actors", "TestReadsEqualTheListOfMessages",
	},
	{
		"another's direct message in a thread", "actors/feed.go",
		"(m.To == \"\" || m.To == f.viewer) &&", "(m.To == \"\" || m.To == f.viewer || f.thread != \"\") &&",
		"actors", "TestInvariant9NoPathShowsAnothersDirectMessage",
	},
	{
		"ring walk off by one", "actors/ring.go",
		"if e.msg.ID <= since {", "if e.msg.ID < since {",
		"actors", "TestReadsEqualTheListOfMessages",
	},
	{
		"ring floor off by one", "actors/ring.go",
		"if since < r.floor {", "if since+1 < r.floor {",
		"actors", "TestReadsEqualTheListOfMessages",
	},
	{
		"cursor of the last scope", "actors/feed.go",
		"examined = min(examined, reached)", "examined = reached",
		"actors", "TestReadsEqualTheListOfMessages",
	},
	{
		"bell taken after the look", "actors/service_messages.go",
		"		bells.listen(h.views.bells, c.feed.scopes, caller)\n		rows, err := h.look(c, caller, &examined)\n", "		defer bells.listen(h.views.bells, c.feed.scopes, caller)\n		rows, err := h.look(c, caller, &examined)\n",
		"actors", "TestOnePostWakesAllWhoWait",
	},
	{
		"message by id to anybody", "actors/service_messages.go",
		"if !hub.CallerOf(ctx).Operator && !hub.Visible(viewer, m.From, m.To) {", "if false {",
		"actors", "TestInvariant9NoPathShowsAnothersDirectMessage",
	},
	{
		"reply to what is not seen", "actors/service_messages.go",
		"if !known {\n			return m, hub.Errorf(hub.CodeReplyNotFound", "if false && !known {\n			return m, hub.Errorf(hub.CodeReplyNotFound",
		"actors", "TestInvariant9NoPathShowsAnothersDirectMessage",
	},
	{
		"direct messages counted in public threads", "actors/threadview.go",
		"			if m.To == \"\" {\n", "			if m.To == \"\" || m.Kind == \"chat\" {\n",
		"actors", "TestInvariant9NoPathShowsAnothersDirectMessage",
	},
	{
		"budget off by one", "actors/feed.go",
		"if m.BodyChars > left {", "if m.BodyChars >= left {",
		"actors", "TestCharacterBudget",
	},

	// Leases, tasks and sessions.
	{
		"expiry a moment late", "actors/core/lease_expiry.go",
		"func(e *Lease) bool { return e.Deadline <= now.HubMS }", "func(e *Lease) bool { return e.Deadline < now.HubMS }",
		"actors", "TestLeaseTTLIsExact",
	},
	{
		"held a moment too long", "actors/core/lease.go",
		"ok && now.HubMS < lease.Deadline", "ok && now.HubMS <= lease.Deadline",
		"actors/core", "TestLeaseProperties|TestLeaseTranscripts|TestExpiryComesInBatches",
	},
	{
		"waiters last come first served", "actors/core/lease_queue.go",
		"		return l.front\n", "		return l.back\n",
		"actors", "TestWaitersAreServedInTheirOrder",
	},
	{
		"grace again and again", "actors/core/lease_fact.go",
		"l.setDeadline(LeaseKey{f.Space, f.Key}, f.Deadline, true, rows)", "l.setDeadline(LeaseKey{f.Space, f.Key}, f.Deadline, false, rows)",
		"actors", "TestRestartGraceAndDowntime",
	},
	{
		"hub time falls back at a start", "actors/checkpoint.go",
		"	head.HubMS = now.HubMS //", "	//",
		"actors", "TestRestartGraceAndDowntime",
	},
	{
		"notice although the owner is there", "actors/core/lease_expiry.go",
		"if w.Away(lease.Agent) {", "if true {",
		"actors", "TestExpiryNotice",
	},
	{
		"expiry on a full disk", "actors/owner_leases.go",
		"if ok, free := h.journal.Room(); !ok {", "if ok, free := h.journal.Room(); false && !ok {",
		"actors", "TestFullDiskFreezesExpiry",
	},
	{
		"a stop leaves who waits for a lease", "actors/hub.go",
		"h.released.Do(h.releaseWaiters)", "h.released.Do(func() {})",
		"actors", "TestEndParkedAnswersWhoWaitsForALease",
	},
	{
		"a displaced session's end forgets the displacement", "actors/sequencer.go",
		"q.ended[agent] = hubMS", "delete(q.incarnations, agent)",
		"actors", "TestDisplacedStaysRefusedAfterTheOtherEnded",
	},
	{
		"caller who left stays in the queue", "actors/service_leases.go",
		"h.stage.tell(pid, leaveTurn{asked, errExpired()})", "_ = leaveTurn{asked, errExpired()}",
		"actors", "TestGoneWaiterIsSkipped",
	},
	{
		"stale fence taken", "actors/core/lease.go",
		"if c.Fence != 0 && c.Fence != lease.Fence {", "if c.Fence != 0 && c.Fence > lease.Fence {",
		"actors", "TestRefreshMovesTheEnd",
	},
	{
		"every task seen by everybody", "actors/core/task.go",
		"return !t.Direct || viewer", "return true || viewer",
		"actors", "TestInvariant9NoPathShowsAnothersDirectMessage",
	},
	{
		"silence counts from the poll's begin", "actors/service_messages.go",
		"		h.views.directory.touch(c.agent, h.clock.now().Wall) //", "		//",
		"actors", "TestParkedPollIsPresence",
	},
	{
		"closed session proves its agent", "actors/service_sessions.go",
		"case row.EndReason == core.EndedClosed:", "case false:",
		"actors", "TestIdleSessionRevives",
	},
	{
		"any resume key", "actors/secrets.go",
		"return same(key, s.mac(\"resume\", public))", "return key != \"\"",
		"actors", "TestResumeRotatesTheKey",
	},
	{
		"old resume key good for ever", "actors/core/agent.go",
		"if a.row.Prior != \"\" && incarnation != 0", "if false && incarnation != 0",
		"actors", "TestResumeRotatesTheKey",
	},

	// The store.
	{
		"sync dropped", "persistence/badger.go",
		"WithSyncWrites(true)", "WithSyncWrites(false)",
		"persistence", "TestFailedSyncEndsTheStore",
	},
	{
		"CRC unchecked", "persistence/codec.go",
		"if binary.BigEndian.Uint32(b[1:]) != checksum(b[sealSize:], salt...) {", "if false {",
		"persistence", "TestEveryBitCounts",
	},
	{
		"HEAD not written", "persistence/journal.go",
		"	if err := s.writeHead(); err != nil {\n		return s.fail(err)\n	}\n	return nil\n}\n\n// PutRows", "	return nil\n}\n\n// PutRows",
		"persistence", "TestHeadIsSyncedOncePerSecond|TestTruncatedIsRefusedUntilAccepted|TestHeadSurvivesEveryStep",
	},
	{
		"failed sync acknowledged", "persistence/journal.go",
		"if err = errors.Join(err, s.badger.failure()); err != nil {", "if err != nil {",
		"persistence", "TestLoggedErrorFailsTheStore|TestFailedSyncEndsTheStore",
	},
	{
		"gap in the journal taken", "persistence/journal.go",
		"case r.Seq != h.Seq+1:", "case false:",
		"persistence", "TestJournalConformance",
	},
	{
		"records below the newest checkpoint dropped", "persistence/checkpoint.go",
		"return s.trim(seqs[checkpointsKept-1])", "return s.trim(seqs[0])",
		"persistence", "TestFramesBelowTheOldestCheckpointGo|TestDamagedCheckpointFallsBack",
	},
	{
		"effects kept for no time", "persistence/journal.go",
		"time.Now().Add(hub.IdempotencyKept)", "time.Now().Add(-hub.IdempotencyKept)",
		"persistence", "TestRowsConformance|TestEffectsExpire",
	},
	{
		"inbox index under the channel", "persistence/journal.go",
		"s.index.add(prefixInbox, string(m.To), m.ID)", "s.index.add(prefixChannel, string(m.Channel), m.ID)",
		"persistence", "TestRowsConformance",
	},

	// The edge.
	{
		"foreign origin taken", "httpapi/guard.go",
		"if len(origins) != 1 || origins[0] != \"http://\"+r.Host {", "if len(origins) != 1 {",
		"httpapi", "TestBrowserDefence",
	},
	{
		"any host taken", "httpapi/guard.go",
		"	if !s.config.AllowRemote {\n		return false\n	}\n	at, _", "	if !s.config.AllowRemote {\n		return true\n	}\n	at, _",
		"httpapi", "TestHost",
	},
	{
		"any operator token", "httpapi/guard.go",
		"subtle.ConstantTimeCompare([]byte(token[0]), s.operatorToken) != 1", "subtle.ConstantTimeCompare([]byte(token[0]), s.operatorToken) > 1",
		"httpapi", "TestStoreAndOperator",
	},
	{
		"no session from another machine", "httpapi/guard.go",
		"		if remote && auth != authOptional {", "		if false && remote {",
		"httpapi", "TestRemote",
	},
	{
		"trailing data taken", "api/decode.go",
		"if s.space(); s.pos != len(body) {", "if s.space(); s.pos > len(body) {",
		"api", "TestDecodeRefuses",
	},
	{
		"invalid UTF-8 taken", "api/decode.go",
		"	if !utf8.Valid(body) {", "	if len(body) < 0 && !utf8.Valid(body) {",
		"api", "TestDecodeRefuses",
	},
	{
		"body limit off by one", "api/validate_post.go",
		"n := utf8.RuneCountInString(body); n > limit {", "n := utf8.RuneCountInString(body); n > limit+1 {",
		"api", "TestValidatePost",
	},

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
		"a claim that is granted while it is held goes unnoticed", "smoke/leases.go",
		"	if got.Acquired || got.Row.OwnerAgentID != p.owner {\n", "	if false {\n",
		"smoke", "TestLiesAreNoticed",
	},
	{
		"a rollup that does not come goes unnoticed", "smoke/tasks.go",
		"	if row.Status != hub.TaskDone || row.CompletedAt == nil {\n", "	if false {\n",
		"smoke", "TestLiesAreNoticed",
	},

	// Hooks.
	{
		"two hooks hold one turn", "hook/stop.go",
		"if !told.Moved {", "if false && !told.Moved {",
		"hook", "TestTwoRunsForOneEvent",
	},
	{
		"hook holds while a watch is armed", "hook/stop.go",
		"if a.Watching {", "if false && a.Watching {",
		"hook", "TestStopIsSilentWhileAWatchIsArmed",
	},
	{
		"hook speaks to sub-agents", "hook/run.go",
		"case r.payload.SubAgent:", "case false && r.payload.SubAgent:",
		"hook", "TestSilence",
	},
	{
		"hook displaces a session", "hook/run.go",
		"replace := false", "replace := true",
		"hook", "TestSessionStartRegistersOnce",
	},
	{
		"two hooks make two agents", "hook/saved.go",
		"err = os.Link(temp, s.path(session))", "err = os.Rename(temp, s.path(session))",
		"hook", "TestTwoRunsForOneEvent",
	},
	{
		"peers write lines of their own", "hook/text.go",
		"case unicode.IsSpace(r) || unicode.IsControl(r):", "case r != '\\n' && (unicode.IsSpace(r) || unicode.IsControl(r)):",
		"hook", "TestQuote",
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
		"search", "TestSearchSaysWhatIsInDoubt",
	},
	{
		"index waits for rows that never come", "actors/indexdoubt.go",
		"	delete(x.held, k)\n", "",
		"search", "TestSearchGoesOnAfterAQuarantine",
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
		"linked work trees are strangers", "workspace/git.go",
		"		common = named\n", "		_ = named\n",
		"workspace", "TestWorkTrees",
	},
	{
		"a file system hangs its caller", "workspace/folders.go",
		"		return a.v, a.err\n	case <-timeout.C:\n		return none, errHangs()\n", "		return a.v, a.err\n",
		"workspace", "TestHungFileSystem",
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
		"parties not asked for", "search/find.go",
		"if field == fieldDirect && !f.q.Operator {", "if false && !f.q.Operator {",
		"search", "TestFindIsWhatAScanFinds",
	},
	{
		"direct messages move scores", "search/find.go",
		"r, err := f.reader.TermFieldReader(f.ctx, []byte(term), fieldPublic, false, false, false)", "r, err := f.reader.TermFieldReader(f.ctx, []byte(term), fieldDirect, false, false, false)",
		"search", "TestFindIsWhatAScanFinds",
	},
	{
		"position ahead of the words", "search/index.go",
		"binary.BigEndian.PutUint64(at[:], uint64(upto.Message))", "binary.BigEndian.PutUint64(at[:], uint64(upto.Message)+1)",
		"search", "TestKilled",
	},
	{
		"files mapped without a look", "search/open.go",
		"err := verify(x.enginePath())", "err := error(nil)",
		"search", "TestOpen",
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
		"common words cost as many as there are", "search/find.go",
		"all[:min(len(all), none+maxAnyWords)]", "all",
		"search", "TestAnyOfTheRarest",
	},
	{
		"replaced memories count", "actors/core/memory.go",
		"		m.kept--\n", "",
		"actors/core", "TestMemoryIsItsRows|TestMemoryLimit",
	},
	{
		"search does not wait", "actors/service_search.go",
		"h.indexer.await(ctx, searchFresh)", "h.indexer.await(ctx, 0)",
		"search", "TestWhatIsAcknowledgedIsFound",
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
		"		if seq >= before {\n", "		if seq > before {\n",
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
