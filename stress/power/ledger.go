package power

import (
	"fmt"
	"strconv"
	"strings"
)

// The lines that the machine writes to its console, each with a mark before it that no
// line of its kernel has.
const (
	mark = "@@"
	// The machine has come up: "booted".
	lineBooted = "booted"
	// Answers: "posted ID BODY", "granted KEY FENCE".
	linePosted  = "posted"
	lineGranted = "granted"
	// What the hub has after its start: "row ID BODY", "held KEY FENCE", then "checked".
	lineRow     = "row"
	lineHeld    = "held"
	lineChecked = "checked"
	// The hub does not start: "refused REASON". Something else went wrong: "failed REASON".
	lineRefused = "refused"
	lineFailed  = "failed"
)

// ledger is what the hub on one disk has acknowledged, and what it has after a start.
type ledger struct {
	bodies map[int64]string // by id of a message: acknowledged, or read after a start
	fences map[string]int64 // by key of a claim
	acks   int              // posts since the last start
	claims int

	rows    map[int64]string // of this start
	ids     map[string]int64 // of this start, by body
	held    map[string]int64 // of this start
	booted  bool
	checked bool
	refused string
}

func newLedger() *ledger {
	return &ledger{bodies: map[int64]string{}, fences: map[string]int64{}}
}

// begin forgets what the last start has shown.
func (l *ledger) begin() {
	l.rows, l.ids, l.held = map[int64]string{}, map[string]int64{}, map[string]int64{}
	l.acks, l.claims, l.booted, l.checked, l.refused = 0, 0, false, false, ""
}

// take takes a line of the console. An error is a broken promise.
func (l *ledger) take(line string) error {
	text, ours := strings.CutPrefix(strings.TrimSpace(line), mark)
	if !ours {
		return nil // of the kernel
	}
	kind, rest, _ := strings.Cut(text, " ")
	first, second, _ := strings.Cut(rest, " ")
	switch kind {
	case lineChecked:
		l.checked = true
		return l.compare()
	case lineBooted:
		l.booted = true
		return nil
	case lineRefused:
		l.refused = rest
		return nil
	case lineFailed:
		return fmt.Errorf("in the machine: %s", rest)
	case linePosted, lineRow:
		id, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return fmt.Errorf("the line %q has no id", line)
		}
		return l.message(kind, id, second)
	case lineGranted, lineHeld:
		fence, err := strconv.ParseInt(second, 10, 64)
		if err != nil {
			return fmt.Errorf("the line %q has no fence", line)
		}
		if kind == lineHeld {
			l.held[first] = fence
			return nil
		}
		l.claims++
		l.fences[first] = fence
		return nil
	}
	return fmt.Errorf("the line %q is of no kind", line)
}

func (l *ledger) message(kind string, id int64, body string) error {
	if known, ok := l.bodies[id]; ok && known != body {
		return fmt.Errorf("message %d was %q and is now %q", id, known, body)
	}
	l.bodies[id] = body
	if kind == linePosted {
		l.acks++
		return nil
	}
	if other, ok := l.ids[body]; ok {
		return fmt.Errorf("%q was posted once and is there as %d and as %d", body, other, id)
	}
	l.rows[id], l.ids[body] = body, id
	return nil
}

// compare looks for acknowledged messages and claims that are not there.
func (l *ledger) compare() error {
	lost := 0
	var one int64
	for id := range l.bodies {
		if _, ok := l.rows[id]; !ok {
			lost, one = lost+1, id
		}
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d acknowledged messages are lost, such as %d", lost, len(l.bodies), one)
	}
	for key, fence := range l.fences {
		if l.held[key] != fence {
			return fmt.Errorf("claim %s was granted with fence %d and is held with fence %d (0: not at all)", key, fence, l.held[key])
		}
	}
	return nil
}
