package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hubcli/hub"
	"hubcli/internal/identity"
)

// What a hook prints, and what a watch prints, is the harness's to keep until its model reads it. If the harness
// is killed before, nobody has read it. So the hub is told twice: that the agent is about to be told of messages,
// by which nobody else tells it of them, and then that its model has read them. The proof of that is what the
// model does next: it calls a tool, or ends its turn. A session that begins in another process of its harness
// takes back what is not proved, and it is told again, marked as repeated.

// program names the process of the harness above the hook; empty: it is not known.
func (r *run) program() string {
	above := r.notes.Harness(r.PID)
	if len(above) == 0 {
		return ""
	}
	at := above[len(above)-1]
	return fmt.Sprintf("%d-%s", at.PID, at.Began)
}

// goesOnWithin are the sources of sessions whose program runs since before.
var goesOnWithin = []string{"clear", fromCompact, "fork"}

// programBegins notes at the beginning of a session in which process it goes on. Another one than
// before has lost what the one before had not given its model. known says that the session is known
// by now: nothing is kept of one that is not the hub's.
func (r *run) programBegins(known bool) {
	p, before := r.sessions.Proof(r.payload.SessionID)
	if !before && !known || slices.Contains(goesOnWithin, r.payload.Source) {
		return
	}
	now := r.program()
	if before && (known || now != "" && p.Program == now) {
		return
	}
	p.Program, p.Next, p.Last, p.Turn, p.Before = now, 0, 0, 0, 0
	p.Cut = before || r.Getenv(EnvAgent) != ""
	_ = r.sessions.KeepProof(r.payload.SessionID, p)
}

// change changes the proof of the session, of the hub that the hook has reached.
func (r *run) change(change func(*identity.Proof) bool) {
	p, _ := r.sessions.Proof(r.payload.SessionID)
	if p.InstanceID != r.instance { // the ids of another store mean other messages
		p = identity.Proof{InstanceID: r.instance, Program: p.Program, Cut: p.Cut}
	}
	if change(&p) {
		_ = r.sessions.KeepProof(r.payload.SessionID, p)
	}
}

// takeBack has the hub take back what the agent was told of and its model has not read, if the program
// of the session was cut off.
func (r *run) takeBack(ctx context.Context, id hub.AgentID) {
	r.change(func(p *identity.Proof) bool {
		r.again = p.Again
		if !p.Cut {
			return false
		}
		told, err := r.hub.Tell(ctx, hub.ToldInput{AgentID: id, ToldID: hub.MaxMessageID, State: hub.ToldLost})
		if err != nil && (away(err) || errors.Is(err, &hub.Error{Code: hub.CodeBrokeOff}) || errors.Is(err, &hub.Error{Code: hub.CodeNoAnswer})) {
			return false // the next event does it
		}
		p.Cut = false
		if err == nil && told.Moved {
			p.Again = told.AfterID
		}
		r.again = p.Again
		return true
	})
}

// given notes what the hook itself is about to tell the agent. What was told before it by others, and is not
// proved, stays so: below that mark there are no gaps.
func (r *run) given(told hub.Told) {
	if !told.Moved {
		return
	}
	r.change(func(p *identity.Proof) bool {
		if told.AfterID > max(r.sure, p.Proved, p.Next, p.Last) {
			return false
		}
		if r.event == Tool { // the model may have called other tools at once
			p.Last = told.ToldID
		} else {
			p.Next = told.ToldID
		}
		return true
	})
}

// turnBegins notes what the agent was told of when its turn begins. Messages that the prompt names came with
// it, by a watch or a plugin.
func (r *run) turnBegins(a *hub.Attention) {
	r.change(func(p *identity.Proof) bool {
		before := *p
		p.Next = max(p.Next, min(r.payload.Names, a.ToldID))
		p.Before, p.Turn = p.Turn, a.ToldID
		return *p != before
	})
}

// proves tells the hub what the model has read by now: at the end of a turn also what tools have
// brought, and what was told in any way before the turn before it began.
func (r *run) proves(ctx context.Context, id hub.AgentID) {
	r.change(func(p *identity.Proof) bool {
		read := p.Next
		if r.event == Stop {
			read = max(read, p.Last, p.Before, r.payload.Names)
		}
		if read <= p.Proved || p.Cut {
			return false
		}
		told, err := r.hub.Tell(ctx, hub.ToldInput{AgentID: id, ToldID: read, State: hub.ToldProved})
		if err != nil {
			return false // a later event says it
		}
		p.Proved = min(read, told.ToldID)
		return true
	})
}

// turnProves is proves at the end of a turn, at which the hook may ask the hub nothing else.
func (r *run) turnProves(ctx context.Context) {
	p, ok := r.sessions.Proof(r.payload.SessionID)
	if !ok || max(p.Next, p.Last, p.Before, r.payload.Names) <= p.Proved {
		return
	}
	if id, saved, err := r.known(); err == nil && r.connect(ctx, saved) == nil {
		r.proves(ctx, id)
	}
}
