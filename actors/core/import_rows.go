package core

import (
	"slices"

	"hubcli/hub"
)

// The rows that an import stages: what Apply of the owners would have written, had the
// things been made here. Each owner loads its state from these rows when it is wanted.

// ImportedAgent gives the row of an author, whose id names its project. It has no session and
// never had one.
func ImportedAgent(id hub.AgentID, displayName string, rows RowSink) {
	rows.Put(TableAgent, []byte(id), mustJSON(AgentRow{Session: hub.Session{AgentID: id, DisplayName: displayName}}))
}

// ImportedDecision gives the rows of a decision whose id has the number seq.
func ImportedDecision(seq hub.Seq, d *hub.Decision, rows RowSink) {
	rows.Put(TableDecision, SeqKey(seq), mustJSON(d))
	rows.Put(TableDecisionByRoom, OwnedKey(d.RoomID, SeqKey(seq)), nil)
}

// ImportedArtifact gives the rows of an artifact whose id has the number seq. content is nil
// if the artifact was left out of its capsule.
func ImportedArtifact(seq hub.Seq, a *hub.Artifact, content []byte, rows RowSink) {
	rows.Put(TableArtifact, SeqKey(seq), mustJSON(a))
	rows.Put(TableArtifactByRoom, OwnedKey(a.RoomID, SeqKey(seq)), nil)
	if content != nil {
		rows.Put(TableArtifactContent, SeqKey(seq), content)
	}
}

// ImportedTitle gives the row of a title of artifacts, whose latest version is a.
func ImportedTitle(a *hub.Artifact, rows RowSink) {
	rows.Put(TableArtifactTitle, OwnedKey(a.RoomID, []byte(a.Title)), mustJSON(LatestArtifact{a.Version, a.ArtifactID}))
}

// ImportedMemory gives the rows of a memory whose id has the number seq. replaced says when a
// later one replaced it; nil: it is current, or it forgets its key.
func ImportedMemory(seq hub.Seq, m *StoredMemory, replaced *hub.Time, rows RowSink) {
	of, end := m.Of(), []byte{}
	switch {
	case replaced != nil:
		end = mustJSON(MemoryEnd{At: *replaced})
	case m.ReplacedAt != nil:
		end = mustJSON(MemoryEnd{At: *m.ReplacedAt})
	}
	rows.Put(TableMemory, SeqKey(seq), mustJSON(m))
	rows.Put(TableMemoryBy, MemoryByKey(of, seq), end)
	if replaced != nil || m.Key == "" {
		return
	}
	key := SeqKey(seq)
	if m.Text == "" {
		key = []byte{} // forgotten
	}
	rows.Put(TableMemoryKey, MemoryKey(of, m.Key), key)
}

// ImportedMemories gives the row that says how many memories a room or project keeps.
func ImportedMemories(of string, kept int, rows RowSink) {
	rows.Put(TableMemoryKey, MemoryKey(of, ""), mustJSON(memoryTally{Kept: kept}))
}

// ImportedTask gives the rows of a task that has ended. run is the number of its run; 0: it
// has none.
func ImportedTask(t *StoredTask, run hub.Seq, rows RowSink) {
	id := IDKey(t.Task.TaskID)
	rows.Put(TableTask, id, mustJSON(t))
	if t.Task.ParentTaskID != nil {
		rows.Put(TableTaskByParent, slices.Concat(IDKey(*t.Task.ParentTaskID), id), nil)
	}
	if t.Task.ThreadID != nil {
		rows.Put(TableTaskByThread, slices.Concat([]byte(*t.Task.ThreadID), []byte{0}, id), nil)
	}
	if t.Task.RoomID != nil {
		rows.Put(TableTaskByRoom, OwnedKey(*t.Task.RoomID, id), nil)
	}
	if t.Task.RunID != nil {
		key, value := RunTask{Task: t.Task.TaskID, Seq: run, Direct: t.Direct}.row(*t.Task.RunID)
		rows.Put(TableTaskByRun, key, value)
	}
}

// ImportedRun gives the rows of a run whose id has the number seq, with the counts of its
// tasks, all of which have ended.
func ImportedRun(seq hub.Seq, run hub.Run, counts hub.RunCounts, was hub.RunStatus, rows RowSink) {
	run.TaskIDs, run.Counts = []hub.TaskID{}, counts
	rows.Put(TableRun, SeqKey(seq), mustJSON(StoredRun{Run: run, AsOf: seq, Was: was}))
	if run.RoomID != nil {
		rows.Put(TableRunByRoom, OwnedKey(*run.RoomID, SeqKey(seq)), nil)
	}
}

// CountImported adds a task of an imported run to its counts.
func CountImported(c *hub.RunCounts, s hub.TaskStatus) { addCount(c, s, 1) }
