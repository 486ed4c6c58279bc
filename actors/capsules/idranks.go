package capsules

import (
	"math/bits"

	"hubcli/hub"
)

// idRanks are the ids of messages and tasks, in the order of ids: the n-th is number n of the
// capsule. They take a bit for each id of the hub in a stretch that has one of them, and a
// fifth of that for counts. A list of a million ids would take 8 MB, and twice that while it grows.
type idRanks struct {
	stretches []*idStretch // by the upper bits of an id; nil: it has none of them
}

const (
	stretchBits  = 16
	stretchWords = 1 << stretchBits / 64
)

// idStretch are the ids that share their upper bits.
type idStretch struct {
	has    [stretchWords]uint64
	before [stretchWords]uint16 // ids of the stretch before each word; set by settle
	first  int64                // ids before the stretch; set by settle
}

// add adds an id. It may be there already.
func (r *idRanks) add(id hub.MessageID) {
	at := int(id >> stretchBits)
	for len(r.stretches) <= at {
		r.stretches = append(r.stretches, nil)
	}
	if r.stretches[at] == nil {
		r.stretches[at] = &idStretch{}
	}
	word, bit := place64(id)
	r.stretches[at].has[word] |= bit
}

// place64 returns where in its stretch an id stands.
func place64(id hub.MessageID) (word int, bit uint64) {
	low := uint64(id) & (1<<stretchBits - 1) //nolint:gosec // ids are above 0
	return int(low / 64), 1 << (low % 64)    //nolint:gosec // less than stretchWords
}

// settle counts the ids. Only then of may be asked, and nothing is added any more.
func (r *idRanks) settle() {
	all := int64(0)
	for _, s := range r.stretches {
		if s == nil {
			continue
		}
		s.first = all
		n := 0
		for i, word := range s.has {
			s.before[i] = uint16(n) //nolint:gosec // at most 65,472: the last word is not before itself
			n += bits.OnesCount64(word)
		}
		all += int64(n)
	}
}

// of returns the number of an id, from 1, or false if it is not among them.
func (r *idRanks) of(id hub.MessageID) (int64, bool) {
	at := int64(id) >> stretchBits
	if id < 0 || at >= int64(len(r.stretches)) || r.stretches[at] == nil {
		return 0, false
	}
	s := r.stretches[at]
	word, bit := place64(id)
	below := bits.OnesCount64(s.has[word] & (bit - 1))
	return s.first + int64(s.before[word]) + int64(below) + 1, s.has[word]&bit != 0
}
