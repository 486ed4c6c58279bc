package spawn

import (
	"fmt"
	"slices"
	"sync"

	"hubcli/hub"
)

// Sizes of the kept parts of an output: its beginning and, longer, its end.
const (
	keptHead = hub.MaxSpawnOutput / 4
	keptTail = hub.MaxSpawnOutput - keptHead
)

// leftOut is the line between the two parts. lineRoom is its largest size; the
// tail is shortened by as much.
const (
	leftOut  = "\n[%d bytes left out here]\n"
	lineRoom = len(leftOut) - len("%d") + len("9223372036854775807")
)

// output keeps the first and the last part of the bytes that are written to it. Its
// memory does not grow beyond hub.MaxSpawnOutput.
type output struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // index of the next byte in the ring
	total int64
}

// Write implements io.Writer; it never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	o.total += int64(n)
	if room := keptHead - len(o.head); room > 0 {
		take := min(room, len(p))
		o.head = append(o.head, p[:take]...)
		p = p[take:]
	}
	if len(p) > keptTail {
		p = p[len(p)-keptTail:]
	}
	if room := keptTail - len(o.tail); room > 0 {
		take := min(room, len(p))
		o.tail = append(o.tail, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 { // the ring is full
		take := copy(o.tail[o.next:], p)
		o.next = (o.next + take) % keptTail
		p = p[take:]
	}
	return n, nil
}

// bytes returns what is kept, at most hub.MaxSpawnOutput. A line says how much is
// left out between the two parts.
func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail := slices.Concat(o.tail[o.next:], o.tail[:o.next])
	if o.total == int64(len(o.head)+len(tail)) {
		return slices.Concat(o.head, tail)
	}
	tail = tail[lineRoom:]
	line := fmt.Appendf(nil, leftOut, o.total-int64(len(o.head)+len(tail)))
	return slices.Concat(o.head, line, tail)
}
