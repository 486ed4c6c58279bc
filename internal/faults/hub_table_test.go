package faults

// hubFaults are mistakes in the hub itself, by the place where they are made.
var hubFaults = []fault{
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
		"return !s.ready })\n	q.pending = nil\n	return left\n", "return false })\n	q.pending = nil\n	return left\n",
		"actors", "TestSlotInTheMakingIsAnsweredByItsOwner",
	},
	{
		"numbered after failure", "actors/sequencer.go",
		"	case q.failed != nil:\n		return q.failed\n", "",
		"actors", "TestSlotInTheMakingIsAnsweredByItsOwner",
	},
	{
		"decides on what was taken back", "actors/sequencer.go",
		"s.owner.withdrawn.Store(true)", "s.owner.withdrawn.Store(false)",
		"actors", "TestGroupWithoutRoomIsTakenBack",
	},
	{
		"turn of an epoch before is numbered", "actors/sequencer.go",
		"	case epoch != q.epoch.Load():\n		return errWithdrawn()\n", "",
		"actors", "TestTurnOfAnEpochBefore",
	},
	{
		"refusal does not wait", "actors/submit.go",
		"a.hub.seq.after(o.epoch, a.restsOn(o), func(failed error) {\n		if failed", "a.hub.seq.after(o.epoch, 0, func(failed error) {\n		if failed",
		"actors", "TestInvariant5AnswersWaitForWhatTheyRestOn",
	},
	{
		"answer without effect does not wait", "actors/submit.go",
		"a.hub.seq.after(o.epoch, a.restsOn(o), func(failed error) { a.finish", "a.hub.seq.after(o.epoch, 0, func(failed error) { a.finish",
		"actors", "TestInvariant5AnswersWaitForWhatTheyRestOn",
	},
	{
		"lease answer does not wait for its own key", "actors/service_leases.go",
		"return o.leases.changes[k] },", "return 0 * o.leases.changes[k] },",
		"actors", "TestInvariant5AnswersWaitForWhatTheyRestOn",
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
		"case o.doubt != nil:", "case false:",
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
		"	h.refreshViews(o.key, state, rows)\n	o.settle()\n", "	h.refreshViews(o.key, state, rows)\n",
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
	{
		"table that nothing names taken for damage", "persistence/manifest.go",
		"if _, ok := table.ParseFileID(name); ok && !d.list.named[name] {", "if _, ok := table.ParseFileID(name); ok && !d.list.named[name] {\n			d.list.named[name] = true",
		"persistence", "TestDebrisIsPutAside|TestKilledInAFlush|TestKilledInACompaction",
	},
	{
		"missing table left to Badger", "persistence/manifest.go",
		"if !there[name] {", "if !there[name] {\n			continue\n		}\n		if false {",
		"persistence", "TestNamedFilesStayChecked",
	},
	{
		"missing list left to Badger", "persistence/manifest.go",
		"if !d.list.found && (len(files) > 0 || d.wal.lastTS > 0) {", "if false {",
		"persistence", "TestNamedFilesStayChecked",
	},
	{
		"memtable that is read taken for the newest", "persistence/store.go",
		"	if !there {\n		return d, truncated", "	if !there || there {\n		return d, truncated",
		"persistence", "TestKilledWhileAnOldMemtableIsRead",
	},
	{
		"torn list left to Badger", "persistence/debris.go",
		"if !d.list.found || d.list.end == d.list.size {", "if true {",
		"persistence", "TestTornListIsCut",
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
}
