package capsules

import (
	"math"
	"slices"

	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

// A text may name a message or thing that is not in its capsule, such as #47 of another
// project. It keeps the number, which must not become one of the imported things: the text
// would point at it. So an import finds out which numbers texts name, and takes others.

const (
	// maxNamed bounds the numbers of one kind that an import remembers.
	maxNamed = 1 << 16
	// farthest bounds how many numbers an import passes over to find free ones. Message ids
	// end at hub.MaxMessageID, which is 8,000 times more.
	farthest = 1 << 40
)

// named are the numbers of one kind that texts of a capsule name and that mean nothing in it.
type named struct {
	numbers []int64 // the lowest of them; sorted by fit
	highest int64
	upto    int64 // all numbers up to this one are known; 0: all
}

// add notes a number.
func (n *named) add(number int64) {
	if n.highest = max(n.highest, number); n.upto != 0 && number > n.upto {
		return
	}
	if n.numbers = append(n.numbers, number); len(n.numbers) >= 2*maxNamed {
		n.settle()
	}
}

// settle sorts the numbers and forgets the highest if there are too many.
func (n *named) settle() {
	slices.Sort(n.numbers)
	n.numbers = slices.Compact(n.numbers)
	if len(n.numbers) > maxNamed {
		n.numbers = n.numbers[:maxNamed]
		n.upto = n.numbers[maxNamed-1]
	}
}

// fit returns the first number from which on count numbers are free.
func (n *named) fit(from, count int64) int64 {
	n.settle()
	for _, number := range n.numbers {
		if number-from >= count {
			return from
		}
		from = max(from, number+1)
	}
	if n.upto == 0 {
		return from
	}
	return max(from, n.highest+1)
}

// A place is where an import puts its things: from the first sequence number and the first
// message id on.
type place struct {
	firstSeq     hub.Seq
	firstMessage hub.MessageID
}

// placing chooses places in gaps.
type placing struct {
	seqs, messages         int64 // how many numbers are needed
	namedSeqs, namedNumber named
}

func newPlacing(c *capsule.Counts) *placing {
	return &placing{seqs: max(1, c.Rooms, c.Decisions, c.Artifacts, c.Memories, c.Runs), messages: c.Messages + c.Tasks}
}

// at returns the place that follows a head, and how many numbers a gap needs to hold it.
func (p *placing) at(head core.Head) (at place, seqs, messages int64) {
	seq, message := int64(head.Seq)+1, int64(head.Message)+1 //nolint:gosec // there are fewer records
	at.firstSeq = hub.Seq(p.namedSeqs.fit(seq, p.seqs))      //nolint:gosec // it is above 0
	at.firstMessage = hub.MessageID(p.namedNumber.fit(message, p.messages))
	return at, int64(at.firstSeq) - seq + p.seqs, int64(at.firstMessage) - message + p.messages //nolint:gosec // see above
}

// finding looks at what the texts of one import name, while it gives out the numbers of a
// place.
type finding struct {
	*placing
	place
	taken bool // a text names a number of the place
}

// number notes a message that a text names.
func (f *finding) number(n int64) {
	first := int64(f.firstMessage)
	if n < first || n-first > farthest {
		return
	}
	f.namedNumber.add(n)
	f.taken = f.taken || n-first < f.messages
}

// id notes a token that may be the id of another thing.
func (f *finding) id(token string) {
	seq, ok := core.ImportedSeq(token)
	if !ok || seq > math.MaxInt64 {
		return
	}
	n, first := int64(seq), int64(f.firstSeq) //nolint:gosec // checked above
	if n < first || n-first > farthest {
		return
	}
	f.namedSeqs.add(n)
	f.taken = f.taken || n-first < f.seqs
}
