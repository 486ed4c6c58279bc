package pause

import "time"

// How Beside rests. Work that is never stopped for longer than the quantum keeps a processor
// that a short call wants for at most that long. With the longest rest, work goes on at a
// quarter of its pace when there is always something urgent.
const (
	besideQuantum = 500 * time.Microsecond
	besideStep    = 250 * time.Microsecond
	besideLongest = 3 * besideQuantum
	besideLooks   = 4 // calls for each look at the clock
)

// Beside lets long work rest while something urgent is under way, such as the call of somebody
// who waits. Rest is called by one goroutine.
type Beside struct {
	urgent func() bool
	since  time.Time // when the work went on last
	calls  int
}

// NewBeside returns a Beside that asks urgent.
func NewBeside(urgent func() bool) *Beside { return &Beside{urgent: urgent, since: time.Now()} }

// Rest is called after each small piece of work. It lets others run that wait for this
// processor, and rests while something is urgent, but not for long, and not if the work has
// just begun.
func (b *Beside) Rest() {
	if b.calls++; b.calls%besideLooks != 0 {
		return
	}
	yield()
	if time.Since(b.since) < besideQuantum {
		return
	}
	for rested := time.Duration(0); rested < besideLongest && b.urgent(); rested += besideStep {
		time.Sleep(besideStep)
	}
	b.since = time.Now()
}
