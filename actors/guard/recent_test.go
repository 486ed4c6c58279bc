package guard

import (
	"fmt"
	"testing"

	"hubcli/hub"
)

// commit posts a turn in the channel x, with an id, and returns what it repeats.
func commit(c *chains, from, text string, id, replyTo hub.MessageID, now int64) repeat {
	t := saying(from, "", text)
	t.id, t.replyTo = id, replyTo
	p := placeOf("", "", "x", "")
	c.posted(p, t, now)
	ch := c.at(p, now)
	return ch.recent[len(ch.recent)-1].repeat
}

// An answer that takes up the new word of what it answers is no repeat, and neither is a reply to
// another question. An echo is one, and so is a second reply.
func TestAnswersAreNoRepeats(t *testing.T) {
	words := []string{"parser", "scanner", "loader", "printer", "poller", "watcher"}
	c := newChains()
	for i, word := range words {
		commit(c, "a", "Please look at the "+word+" next and say what is wrong", 0, 0, int64(i))
		if r := commit(c, "b", "Done with the "+word+", no problem found", 0, 0, int64(i)); r.repeats > 0 {
			t.Errorf("the answer about the %s: %+v", word, r)
		}
	}
	c = newChains()
	for i := range 6 {
		id := hub.MessageID(10 * (i + 1))
		commit(c, "a", numbered(i), id, 0, int64(i))
		if r := commit(c, "b", "It works", id+1, id, int64(i)); r.repeats > 0 {
			t.Errorf("reply %d: %+v", i, r)
		}
		if r := commit(c, "b", "It works", id+2, id, int64(i)); r != (repeat{ownWords, true}) {
			t.Errorf("second reply %d: %+v", i, r)
		}
	}
	c = newChains()
	for i := range 6 {
		id := hub.MessageID(10 * (i + 1))
		commit(c, "a", numbered(i), id, 0, int64(i))
		if r := commit(c, "b", numbered(i)+"!", id+1, id, int64(i)); r != (repeat{othersWords, true}) {
			t.Errorf("echo %d: %+v", i, r)
		}
	}
	c = newChains()
	for i := range 8 { // thanks for thanks
		from := []string{"a", "b"}[i%2]
		if r := commit(c, from, "Thank you", hub.MessageID(i+1), hub.MessageID(i), int64(i)); i > 0 && r != (repeat{othersWords, true}) {
			t.Errorf("thanks %d: %+v", i, r)
		}
	}
}

// Words of which not all are equal are never told to rest.
func TestLikeWordsDoNotRest(t *testing.T) {
	posted, waits, last := turns(newChains(), usual, 60, func(i int) string {
		return "Thank you very much for that, " + string(rune('k'+i%13)) + string(rune('m'+i%11)) + "!"
	})
	if posted != 60 || len(waits) < 40 || last != (verdict{}) || waits[len(waits)-1] != longestMS-1000 {
		t.Errorf("%d posts, waits %v, then %+v", posted, waits, last)
	}
}

// An agent waits for what it has itself repeated, and for its own haste.
func TestOthersBindNobody(t *testing.T) {
	for name, gap := range map[string]int64{"slowly": 20_000, "fast": 500} {
		c, p, now := newChains(), placeOf("", "", "x", ""), int64(1)
		commit(c, "c", "Hello, I have arrived", 0, 0, now)
		for i := range 40 {
			now += gap
			text := "The build passed."
			if name == "fast" {
				text = numbered(i)
			}
			commit(c, []string{"a", "b"}[i%2], text, 0, 0, now)
		}
		if v := c.enter(p, saying("a", "", "The build passed."), now, usual); v == (verdict{}) {
			t.Errorf("%s: the loop passes", name)
		}
		for i, text := range []string{"Build 4711 passed", "Who looks after the release notes of today?"} {
			if v := c.enter(p, saying("c", "", text), now, usual); v != (verdict{}) {
				t.Errorf("%s: %q: %+v", name, text, v)
			}
			c.leave(p, "c")
			commit(c, "c", text, 0, 0, now)
			commit(c, "a", fmt.Sprint("The build passed ", i), 0, 0, now)
			commit(c, "b", fmt.Sprint("The build passed ", i), 0, 0, now)
		}
	}
}
