package guard

import (
	"slices"

	"hubcli/hub"
)

const (
	maxRecent = 12 // posts of a chain with which a new one is compared
	looked    = 6  // the last posts, which say how a chain goes
	circles   = 5  // sum of the repeats of these from which on a chain goes in a circle

	// An agent is bound by what others have repeated only after so many repeats of its own. Those
	// of a ring of many have fewer posts among the recent ones.
	ownRepeats     = 2
	ownRepeatsRing = 1
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
	id       hub.MessageID // 0: it is to be made
	replyTo  hub.MessageID // 0: none
}

// entry is a post of a chain.
type entry struct {
	from    hub.AgentID
	at      int64 // hub ms
	words   words
	id      hub.MessageID
	replyTo hub.MessageID
	repeat
}

// repeat says how a post repeats what was said; the zero repeat is that of a new one.
type repeat struct {
	repeats int
	same    bool // it has the same words; else they are nearly the same
}

// repeats says how a turn repeats what was said in the chain.
func (ch *chain) repeats(t *turn) (out repeat) {
	q := ch.answered(t)
	echo := q != nil && t.words.repeats(&q.words)
	reply := q != nil && !echo && t.replyTo != 0 && !ch.replied(t)
	if reply && q.repeats == 0 {
		return repeat{} // each new question may have the same answer
	}
	for i := range ch.recent {
		one := &ch.recent[i]
		same := t.words.same(&one.words)
		switch {
		case !same && !t.words.repeats(&one.words):
			continue
		case !same && !echo && q != nil && t.words.takesUp(&q.words, &one.words):
			continue
		case one.from != t.from:
			out.repeats = othersWords
		default:
			out.repeats = max(out.repeats, ownWords)
		}
		out.same = out.same || same && (!reply || q.same)
	}
	return out
}

// answered returns the post of another agent that a turn answers: the one that it names, else
// the last one. Nil: it is not among the recent ones.
func (ch *chain) answered(t *turn) *entry {
	for i := len(ch.recent) - 1; i >= 0; i-- {
		one := &ch.recent[i]
		if one.from != t.from && (t.replyTo == 0 || t.replyTo == one.id) {
			return one
		}
	}
	return nil
}

// replied reports whether the agent of a turn has replied to the same post before.
func (ch *chain) replied(t *turn) bool {
	return slices.ContainsFunc(ch.recent, func(one entry) bool { return one.from == t.from && one.replyTo == t.replyTo })
}

// binds reports whether a turn has to wait where a chain goes in a circle: it repeats what was
// said, and its agent has done so before. What only others have repeated is free.
func (ch *chain) binds(t *turn, r repeat) bool {
	need, own := ownRepeats, 0
	if len(ch.agents) > maxAgents {
		need = ownRepeatsRing
	}
	for i := range ch.recent {
		if one := &ch.recent[i]; one.from == t.from && one.repeats > 0 {
			own++
		}
	}
	return r.repeats > 0 && own >= need
}

// note keeps a committed post, and since when the chain goes in a circle.
func (ch *chain) note(t *turn, now int64) {
	r := ch.repeats(t)
	if len(ch.recent) == maxRecent {
		ch.recent = append(ch.recent[:0], ch.recent[1:]...)
	}
	ch.recent = append(ch.recent, entry{from: t.from, at: now, words: t.words, id: t.id, replyTo: t.replyTo, repeat: r})
	if r.same && ch.restUntil > 0 && now >= ch.restUntil {
		ch.restUntil = 0 // one passed, so the next ones are judged anew
		ch.rests++
	}
	switch {
	case !ch.circling():
		ch.circleFrom, ch.restUntil, ch.rests = 0, 0, 0
	case ch.circleFrom == 0:
		ch.circleFrom = ch.hops
	}
}

// circling reports whether the last posts repeat what was said: all of them but one, or half
// of them the words of another agent.
func (ch *chain) circling() bool {
	return ch.sum(func(*entry) bool { return true }) >= circles
}

// same reports whether a chain would go in a circle by those posts alone that have the same words.
func (ch *chain) same() bool {
	return ch.sum(func(one *entry) bool { return one.same }) >= circles
}

// sum adds the repeats of those of the last posts that count.
func (ch *chain) sum(counts func(*entry) bool) (sum int) {
	for i := max(0, len(ch.recent)-looked); i < len(ch.recent); i++ {
		if one := &ch.recent[i]; counts(one) {
			sum += one.repeats
		}
	}
	return sum
}

// fast reports whether a post now would come on the heels of many: the last ones were less
// than a gap apart, in the mean.
func (ch *chain) fast(gap, now int64) bool {
	n := len(ch.recent)
	return n >= looked && now-ch.recent[n-looked].at < looked*gap
}

// hurries reports whether an agent has its share of the last posts. One that speaks seldom does
// not wait because the others are fast.
func (ch *chain) hurries(agent hub.AgentID) bool {
	own := 0
	for i := max(0, len(ch.recent)-looked); i < len(ch.recent); i++ {
		if ch.recent[i].from == agent {
			own++
		}
	}
	return own >= looked/max(1, len(ch.agents))
}

// why says for which of its reasons a post waits.
type why string

const (
	whyRepeats why = "repeats"
	whyFast    why = "fast"
)

// next returns the moment from which on a turn passes that is slowed; 0: it is not slowed.
func (ch *chain) next(t *turn, now int64, l limits) (at int64, reason why) {
	if l.slow == 0 || ch.hops < l.slow {
		return 0, ""
	}
	switch r := ch.repeats(t); {
	case ch.circleFrom > 0 && ch.binds(t, r):
		return ch.nextRepeat(r.same, l), whyRepeats
	case ch.fast(l.fastGap(ch.hops), now) && ch.hurries(t.from):
		return ch.at + l.fastGap(ch.hops), whyFast
	}
	return 0, ""
}

// nextRepeat returns the moment from which on what repeats passes in a chain that goes in a
// circle. Each turn doubles the wait, to a minute at most. Where nothing is refused and all have
// the same words, they rest at last. Two agents that both do so rest a short time first: there may
// be a reason. Others would post too often so.
func (ch *chain) nextRepeat(same bool, l limits) int64 {
	step := ch.hops - max(ch.circleFrom, l.slow)
	if l.stop > 0 || step < restAfter || !same || !ch.same() {
		return ch.at + min(int64(firstGap)<<min(step, 10), longestMS)
	}
	if ch.restUntil == 0 {
		rest := int64(restMS)
		last := ch.recent[max(0, len(ch.recent)-looked):]
		all := !slices.ContainsFunc(last, func(one entry) bool { return !one.same })
		if all && step == restAfter && ch.rests == 0 && len(ch.agents) < maxAgents {
			rest = firstRestMS
		}
		ch.restUntil = ch.at + rest
	}
	return ch.restUntil
}
