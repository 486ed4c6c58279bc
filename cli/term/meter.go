package term

import (
	"fmt"
	"time"

	"hubcli/internal/peertext"
)

const (
	MeterQuiet = time.Second            // before the first line: most work is done by then
	meterDraws = 200 * time.Millisecond // between two looks of a person
	meterLines = 10 * time.Second       // between two lines in a log
)

// meter tells on stderr how far a long command is: on a terminal in one line that changes,
// elsewhere in a line now and then.
type meter struct {
	env   *Env
	live  bool // a terminal
	next  time.Time
	about string // the part of the work that was shown last
	drawn bool
}

// NewMeter makes a meter that shows nothing yet.
func NewMeter(env *Env) *meter {
	return &meter{env: env, live: env.StderrTerminal != nil && env.StderrTerminal(), next: env.Now().Add(MeterQuiet)}
}

// Show shows a text if it is time to, or if it is about another part of the work than the
// last one.
func (m *meter) Show(text, about string) {
	now := m.env.Now()
	if now.Before(m.next) && (m.about == "" || m.about == about) {
		return
	}
	m.about = about
	if m.live {
		m.next, m.drawn = now.Add(meterDraws), true
		fmt.Fprint(m.env.Stderr, "\r"+peertext.TerminalLine(text)+ClearLine)
		return
	}
	m.next = now.Add(meterLines)
	m.env.Note("%s", text)
}

// End leaves an empty line for what follows.
func (m *meter) End() {
	if m.drawn {
		fmt.Fprint(m.env.Stderr, "\r"+ClearLine)
	}
}
