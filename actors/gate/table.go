package gate

import "sync"

// Cell says what a rule means for a write.
type Cell struct {
	Applies bool
	// Why says for which calls of the write the rule does not apply; empty: it applies to all.
	// Of a rule that does not apply it says why.
	Why string
}

// Row is one write of the wire, by its operation.
type Row struct {
	Op       string
	Answer   Cell // a repetition with the same key gets the stored answer before anything else
	Paused   Cell // an agent that the operator has paused is refused, and everybody in a paused room
	Archived Cell // it is refused in a room, project or channel that is archived
	Loops    Cell // posts of agents without progress are slowed and stopped
	Muted    Cell // what a muted agent says is marked
}

var yes = Cell{Applies: true}

// but is a rule that does not apply to some calls.
func but(why string) Cell { return Cell{true, why} }

// no is a rule that does not apply.
func no(why string) Cell { return Cell{false, why} }

// Why rules do not apply.
var (
	noRoom    = no("it is about no room")
	noTalk    = no("it says nothing to others")
	noLoop    = no("it is no post")
	operators = no("only the operator calls it, and nothing pauses the operator")
	itsRulers = no("the operator rules what is archived, too")
	looks     = no("it changes nothing that lasts: a repetition looks again")
	letsGo    = no("it lets go of what the agent has, or ends it")
	keeps     = no("it keeps what the agent has")
	presence  = no("it names the agent and its place")
	asks      = no("a paused agent may ask the operator")
	noted     = no("it only notes how far the agent is")
	isThere   = no("the task is there already, and may come to its end")
	ends      = no("it ends what is there")
	workTold  = no("what the hub says of tasks is never muted")
	planned   = no("tasks of a muted agent are tasks like any other")
	questions = no("questions to the operator are never muted")
)

// ruling is a write of the operator.
func ruling(op string) Row {
	return Row{op, yes, operators, itsRulers, noLoop, noTalk}
}

// looking is a call that is no read by its method and changes nothing that lasts.
func looking(op string, answer Cell) Row {
	return Row{op, answer, operators, noRoom, noLoop, noTalk}
}

// Rows is the table: each write of the wire, in the order of their ids. It is made when it is first used: most
// commands never look at it.
var Rows = sync.OnceValue(func() []Row {
	return []Row{
		{"acceptInvite", yes, presence, yes, noLoop, noTalk},
		{"acceptTask", yes, yes, isThere, noLoop, workTold},
		ruling("activateLicense"),
		{"addArtifact", yes, yes, yes, noLoop, yes},
		{"addDecision", yes, yes, yes, noLoop, yes},
		{"addRunTasks", yes, yes, yes, noLoop, workTold},
		ruling("allowHost"),
		ruling("allowUser"),
		ruling("answerAsk"),
		ruling("archiveChannel"),
		ruling("archiveProject"),
		ruling("archiveRoom"),
		{"ask", yes, asks, yes, noLoop, questions},
		{"awaitPermission", no("it waits for an answer of the operator, and a repetition waits on"), asks, noRoom, noLoop, questions},
		{"bindRoom", yes, yes, yes, noLoop, noTalk},
		ruling("breakClaim"),
		ruling("breakLock"),
		{"browse", yes, but("the last step, which closes the page"), but("the last step, which closes the page"), noLoop, noTalk},
		ruling("cancelExport"),
		ruling("cancelImport"),
		looking("cancelShutdown", no("the switch of the process ignores the key: a repetition finds it as it is")),
		{"claim", yes, but("a claim that the agent holds, which it renews"), noRoom, noLoop, noTalk},
		ruling("clear"),
		{"closeSession", yes, letsGo, noRoom, noLoop, noTalk},
		{"completeTask", yes, but("the task that the agent has"), isThere, noLoop, workTold},
		ruling("confirmExport"),
		ruling("confirmImport"),
		{"createChannel", yes, yes, no("a channel that is archived is found, and stays so"), noLoop, noTalk},
		ruling("createConnection"),
		{"createInvite", yes, yes, yes, noLoop, noTalk},
		{"createPass", yes, no("it names no agent: a caller that has the code is the operator"), noRoom, noLoop, noTalk},
		looking("createPassCode", no("a code lives in memory for moments and is kept nowhere: a repetition makes another")),
		{"createProject", yes, yes, noRoom, noLoop, noTalk},
		{"createRoom", yes, yes, no("the owner of projects refuses a room in an archived project, which it finds by its name"), noLoop, noTalk},
		{"createRun", yes, yes, yes, noLoop, planned},
		ruling("deactivateLicense"),
		{"declineTask", yes, letsGo, isThere, noLoop, workTold},
		ruling("deleteConnection"),
		ruling("endMute"),
		ruling("endPass"),
		ruling("endPause"),
		ruling("endSession"),
		{"handoffTask", yes, yes, isThere, noLoop, workTold},
		looking("inspectCapsule", looks),
		ruling("installAdapter"),
		{"lock", yes, but("a lock that the agent holds, which it renews"), noRoom, noLoop, noTalk},
		ruling("mute"),
		{"noteTurn", no("a repetition notes the same"), noted, noRoom, noLoop, noTalk},
		ruling("pause"),
		looking("planClear", looks),
		looking("planExport", no("a plan lives in memory and changes nothing: a repetition plans again")),
		looking("planImport", no("a plan lives in memory and changes nothing: a repetition plans again")),
		{
			"postMessage", yes, but("the result of a task that the agent has, and a question to the operator"),
			but("the result of a task, and a direct message that opens none"), but("tasks, their results, and questions to the operator"),
			but("questions to the operator"),
		},
		looking("previewAdapter", looks),
		looking("previewAdapterUninstall", looks),
		{"refreshClaim", yes, keeps, noRoom, noLoop, noTalk},
		{"refreshLock", yes, keeps, noRoom, noLoop, noTalk},
		ruling("refuseUser"),
		{"register", yes, presence, noRoom, noLoop, noTalk},
		{"releaseClaim", yes, letsGo, noRoom, noLoop, noTalk},
		{"releaseLock", yes, letsGo, noRoom, noLoop, noTalk},
		{"remember", yes, yes, but("a memory that is forgotten"), noLoop, noTalk},
		ruling("renameProject"),
		ruling("renameRoom"),
		{"renameSession", yes, presence, noRoom, noLoop, noTalk},
		ruling("repairAdapter"),
		{"requestPermission", yes, asks, no("a harness asks its user, wherever its agent works"), noLoop, questions},
		{"resumeSession", yes, presence, noRoom, noLoop, noTalk},
		ruling("retireAgent"),
		{"revokeInvite", yes, no("it ends an invite and makes nothing"), ends, noLoop, noTalk},
		ruling("setBudget"),
		ruling("setConnectionKey"),
		ruling("setNotify"),
		ruling("setPermissions"),
		ruling("setRoomGuard"),
		{"setRoomLocks", yes, yes, yes, noLoop, noTalk},
		ruling("setSpawnPolicy"),
		ruling("setToolSurface"),
		looking("shutdown", no("the switch of the process ignores the key: a repetition finds it as it is")),
		{"sit", yes, presence, yes, noLoop, noTalk},
		{"spawn", yes, yes, yes, noLoop, noTalk},
		{"stopSpawn", yes, letsGo, ends, noLoop, noTalk},
		ruling("takeBackAnswer"),
		{"tellAgent", no("the mark itself keeps the key by which it was moved, and answers the same"), noted, noRoom, noLoop, noTalk},
		ruling("testNotify"),
		{"unbindRoom", yes, yes, ends, noLoop, noTalk},
		ruling("uninstallAdapter"),
		ruling("updateConnection"),
		{"updateTask", yes, but("an end or a return of the task that the agent has"), isThere, noLoop, workTold},
		looking("verifyAdapter", no("it tries the adapter, and a repetition tries it again")),
		ruling("verifyConnection"),
		looking("verifyLicense", no("it asks the license server, and a repetition asks again")),
		{"withdrawAsk", yes, letsGo, ends, noLoop, questions},
	}
})

var rowsByOp = sync.OnceValue(func() map[string]*Row {
	rows := Rows()
	byOp := make(map[string]*Row, len(rows))
	for i := range rows {
		byOp[rows[i].Op] = &rows[i]
	}
	return byOp
})

// rowOf returns the row of an operation. It panics if there is none, which is a mistake in the
// code that names it.
func rowOf(op string) *Row {
	row := rowsByOp()[op]
	if row == nil {
		panic("gate: the table has no row of the write " + op)
	}
	return row
}
