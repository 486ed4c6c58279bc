package guard

import "hubcli/hub"

const (
	maxRecent = 12 // posts of a chain with which a new one is compared
	looked    = 6  // the last posts, which say how a chain goes
	circles   = 5  // sum of the repeats of these from which on a chain goes in a circle
)

// How a post repeats one of those before it.
const (
	ownWords    = 1 // what its agent has said already
	othersWords = 2 // what another agent has said: half as many such posts make a circle
)

// turn is a post that is to be made or that was committed.
type turn struct {
	from, to hub.AgentID // to is empty in a channel
	words    words
}

// entry is a post of a chain.
type entry struct {
	from    hub.AgentID
	at      int64 // hub ms
	words   words
	repeats int
}

// repeats says how a turn repeats what was said in the chain; 0: it is new.
func (ch *chain) repeats(t *turn) (most int) {
	for i := range ch.recent {
		one := &ch.recent[i]
		switch {
		case !t.words.like(&one.words):
		case one.from != t.from:
			return othersWords
		default:
			most = ownWords
		}
	}
	return most
}

// note keeps a committed post, and since when the chain goes in a circle.
func (ch *chain) note(t *turn, now int64) {
	repeats := ch.repeats(t)
	if len(ch.recent) == maxRecent {
		ch.recent = append(ch.recent[:0], ch.recent[1:]...)
	}
	ch.recent = append(ch.recent, entry{from: t.from, at: now, words: t.words, repeats: repeats})
	if repeats > 0 {
		ch.restUntil = 0 // one passed, so the next ones are judged anew
	}
	switch {
	case !ch.circling():
		ch.circleFrom, ch.restUntil = 0, 0
	case ch.circleFrom == 0:
		ch.circleFrom = ch.hops
	}
}

// circling reports whether the last posts repeat what was said: all of them but one, or half
// of them the words of another agent.
func (ch *chain) circling() bool {
	sum := 0
	for i := max(0, len(ch.recent)-looked); i < len(ch.recent); i++ {
		sum += ch.recent[i].repeats
	}
	return sum >= circles
}

// fast reports whether a post now would come on the heels of many: the last ones were less
// than a gap apart, in the mean.
func (ch *chain) fast(gap, now int64) bool {
	n := len(ch.recent)
	return n >= looked && now-ch.recent[n-looked].at < looked*gap
}

// why says for which of its reasons a post waits.
type why string

const (
	whyRepeats why = "repeats"
	whyFast    why = "fast"
)

// next returns the moment from which on a turn passes that is slowed; 0: it is not slowed.
func (ch *chain) next(t *turn, now int64, l limits) (at int64, reason why) {
	switch {
	case l.slow == 0 || ch.hops < l.slow:
		return 0, ""
	case ch.circleFrom > 0 && ch.repeats(t) > 0:
		return ch.nextRepeat(l), whyRepeats
	case ch.fast(l.fastGap(ch.hops), now):
		return ch.at + l.fastGap(ch.hops), whyFast
	}
	return 0, ""
}

// nextRepeat returns the moment from which on what repeats passes in a chain that goes in a
// circle. Each turn doubles the wait. Where nothing is refused, the words rest at last.
func (ch *chain) nextRepeat(l limits) int64 {
	step := ch.hops - max(ch.circleFrom, l.slow)
	if l.stop > 0 || step < restAfter {
		return ch.at + min(int64(firstGap)<<min(step, 10), longestMS)
	}
	if ch.restUntil == 0 {
		ch.restUntil = ch.at + restMS
	}
	return ch.restUntil
}
