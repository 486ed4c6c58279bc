package gate

import (
	"fmt"
	"strings"
)

//go:generate go test . -run TestRulesAreTold -rewrite

// page is what docs/rules.md says around the table.
const page = `# The rules of every write

Some rules hold for every write, whatever it is about. They stand in one place, the gate (` + "`actors/gate`" + `), and each write goes
through it. This page is printed from the gate's table by ` + "`go generate ./actors/gate`" + `; a test holds it fresh. A change that adds a write
has to choose for each rule whether it applies, and to say why if it does not.

The gate asks in this order:

1. **Other user.** A program of another user of the machine is refused before anything else (` + "`other_user`" + `), unless the operator
   has let the user in and the write is open to such users.
2. **Stored answer.** A call with an idempotency key that was answered before gets that answer, whatever has changed since: the room
   is archived, the agent is paused, retired or gone, the folder or the plan is gone, the hub was started again.
3. **Preparation.** Only now folders, names and keys are looked at, and the hub looks whether it stops and whether its disk is full.
4. **Paused**, in the turn of the owner that decides: an agent that the operator has paused makes, binds and changes nothing
   (` + "`paused`" + `). It may read, register and sit down, keep what it has, let go of it and end it, and ask the operator.
5. **Archived**: nothing new comes into an archived room, project or channel (` + "`archived`" + `). What is there may be read, brought to
   its end, released, unbound and taken back. The operator rules archived places as others.
6. **Loops**: posts of agents that post to each other without progress are refused for a while, where the operator wants that.
7. The owner decides.
8. **Muted**: what a muted agent has said is marked, so that it wakes nobody. A mute refuses nothing.

Two rulings of the operator refuse no write. An agent that was **retired** is back with its next call that does more than wait. A
**budget** bounds what an agent is given to read.

In the table ● is a rule that applies, ◐ one that does not apply to some calls, and – one that does not apply. The notes below say why.

`

// Page is docs/rules.md. others says for each operation why another user may not call it.
func Page(others map[string]string) string {
	var b strings.Builder
	b.WriteString(page)
	b.WriteString("| Write | Other user | Stored answer | Paused | Archived | Loops | Muted |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	notes := newNotes()
	for _, r := range Rows() {
		other := Cell{Why: "a user that the operator has let in calls it as the hub's own user does"}
		if why := others[r.Op]; why != "" {
			other = Cell{Applies: true, Why: ""}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", r.Op,
			notes.cell(other), notes.cell(r.Answer), notes.cell(r.Paused), notes.cell(r.Archived), notes.cell(r.Loops), notes.cell(r.Muted))
	}
	b.WriteString("\n")
	for i, why := range notes.all {
		fmt.Fprintf(&b, "%d. %s\n", i+1, why)
	}
	return b.String()
}

// notes number the reasons of cells, each once.
type notes struct {
	all    []string
	number map[string]int
}

func newNotes() *notes { return &notes{number: map[string]int{}} }

func (n *notes) cell(c Cell) string {
	sign := "–"
	switch {
	case c.Applies && c.Why == "":
		return "●"
	case c.Applies:
		sign = "◐"
	}
	why := c.Why
	if c.Applies {
		why = "not for " + why
	}
	if n.number[why] == 0 {
		n.all = append(n.all, strings.ToUpper(why[:1])+why[1:]+".")
		n.number[why] = len(n.all)
	}
	return fmt.Sprintf("%s %d", sign, n.number[why])
}
