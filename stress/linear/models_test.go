package linear

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// step is one call of a story. Each begins when the one before has ended, unless it began
// before.
type step struct {
	in, out any // without out: no answer
	call    int64
	ret     int64
}

func story(model porcupine.Model, steps []step) *history {
	h := &history{name: "story", model: model}
	for i, s := range steps {
		o := &op{client: i, call: s.call, ret: s.ret, in: s.in, out: s.out, known: s.out != nil, epoch: 1}
		if s.call == 0 {
			o.call, o.ret = int64(i+1)*int64(time.Millisecond), int64(i+1)*int64(time.Millisecond)+1
		}
		h.ops = append(h.ops, o)
	}
	return h
}

// lease calls of a story.
func get(agent string, ttl time.Duration) leaseOp {
	return leaseOp{Do: "acquire", Agent: agent, TTL: ttl}
}

func got(agent string, fence int64) leaseOut { return leaseOut{Got: true, Holder: agent, Fence: fence} }

func held(agent string, fence int64) leaseOut { return leaseOut{Holder: agent, Fence: fence} }

// Each case is a lie that a hub could tell, and a true story that differs only in the
// last answer.
func TestModelsSeeLies(t *testing.T) {
	add := func(text string) listOp { return listOp{Do: "add", Text: text} }
	final := []entry{{ID: 3, Text: "a"}, {ID: 5, Text: "b"}, {ID: 8, Text: "c"}}
	rows := func(e ...entry) listOut { return listOut{append([]entry(nil), e...)} }
	release := leaseOp{Do: "release", Agent: "a"}
	offer, accept, complete := taskOp{Do: "offer", Agent: "x"}, taskOp{Do: "accept", Agent: "x"}, taskOp{Do: "complete", Agent: "x"}
	done := func(i int) []step {
		in := complete
		in.Task = i
		return []step{{in: in, out: taskState{Status: "done", Version: 2}}}
	}
	ms := int64(time.Millisecond)
	for name, c := range map[string]struct {
		model     porcupine.Model
		steps     []step
		last      any
		true, lie any
	}{
		"a lease is granted twice": {
			leaseModel,
			[]step{{in: get("a", time.Hour), out: got("a", 1)}},
			get("b", time.Hour), held("a", 1), got("b", 2),
		},
		"a grant keeps the fence": {
			leaseModel,
			[]step{{in: get("a", time.Hour), out: got("a", 1)}, {in: release, out: leaseOut{Fence: 1}}},
			get("b", time.Hour), got("b", 2), got("b", 1),
		},
		"a lease of a lost grant is granted": {
			leaseModel,
			[]step{{in: get("a", time.Hour)}, {in: leaseOp{Do: "look"}, out: held("a", 4)}},
			get("b", time.Hour), held("a", 4), got("b", 5),
		},
		"a lease expires early": {
			leaseModel,
			[]step{{in: get("a", time.Second), out: got("a", 1), call: 1, ret: 2}, {in: leaseOp{Do: "look"}, out: held("a", 1), call: 990 * ms, ret: 991 * ms}},
			get("b", time.Hour), held("a", 1), got("b", 2),
		},
		"a released lease is held": {
			leaseModel,
			[]step{{in: get("a", time.Hour), out: got("a", 1)}, {in: release, out: leaseOut{Fence: 1}}},
			leaseOp{Do: "look"},
			leaseOut{},
			held("a", 1),
		},
		"a stale fence renews": {
			leaseModel,
			[]step{{in: get("a", time.Hour), out: got("a", 7)}},
			leaseOp{Do: "refresh", Agent: "a", TTL: time.Hour, Fence: 6},
			leaseOut{Code: "stale_fence"},
			got("a", 7),
		},
		"a message is skipped": {
			listModel(final, false),
			[]step{{in: add("a"), out: rows(final[0])}, {in: add("b"), out: rows(final[1])}},
			listOp{Do: "look", Limit: 9},
			rows(final[0], final[1]), rows(final[1]),
		},
		"a message is seen before and not after": {
			listModel(final, false),
			[]step{{in: add("a")}, {in: listOp{Do: "look", Limit: 9}, out: rows(final[0])}},
			listOp{Do: "look", Limit: 9},
			rows(final[0]), rows(),
		},
		"an answered message is lost": {
			listModel(final, false),
			[]step{{in: add("a"), out: rows(final[0])}},
			add("b"), rows(final[1]), rows(entry{ID: 6, Text: "lost"}),
		},
		"a write that is sent again has another id": {
			listModel(final, false),
			[]step{{in: add("a"), out: rows(final[0])}},
			add("a"), rows(final[0]), rows(entry{ID: 5, Text: "a"}),
		},
		"messages are in another order": {
			listModel(final, false),
			[]step{{in: listOp{Do: "look", Limit: 9}, out: rows()}, {in: add("b"), call: 1, ret: 10 * ms}},
			add("a"), rows(final[0]), rows(final[1]),
		},
		"a key is without its memory": {
			listModel(final, true),
			[]step{{in: add("a"), out: rows(final[0])}, {in: add("b"), call: 1, ret: 10 * ms}},
			listOp{Do: "look"},
			rows(final[0]), rows(),
		},
		"a displaced session is in force": {
			sessionModel,
			[]step{{in: sessionOp{Do: "register"}, out: sessionOut{Incarnation: 1}}, {in: sessionOp{Do: "register"}, out: sessionOut{Incarnation: 2}}},
			sessionOp{Do: "prove", Incarnation: 1},
			sessionOut{Code: "session_replaced"},
			sessionOut{},
		},
		"a session begins twice": {
			sessionModel,
			[]step{{in: sessionOp{Do: "register"}, out: sessionOut{Incarnation: 1}}},
			sessionOp{Do: "register"},
			sessionOut{Incarnation: 2},
			sessionOut{Incarnation: 3},
		},
		"a parent is open when all its children are done": {
			taskModel, append(append(done(0), done(1)...), done(2)...),
			taskOp{Do: "look", Task: children},
			taskState{Status: "done", Version: 2},
			taskState{Status: "open", Version: 1},
		},
		"a parent is done before its children": {
			taskModel, append(done(0), done(1)...),
			taskOp{Do: "look", Task: children},
			taskState{Status: "open", Version: 1},
			taskState{Status: "done", Version: 2},
		},
		"an offer is accepted twice": {
			taskModel,
			[]step{{in: offer, out: taskState{Status: "open", Offered: "x", Version: 2}}, {in: accept, out: taskState{Status: "open", Assignee: "x", Version: 3}}},
			accept,
			taskState{Code: "not_offered"},
			taskState{Status: "open", Assignee: "x", Version: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := newTimeline()
			now.start()
			now.end()
			now.ended[1] = forever - 1
			for _, lie := range []bool{false, true} {
				last := step{in: c.last, out: c.true}
				if lie {
					last.out = c.lie
				}
				if n := len(c.steps); n > 0 && c.steps[n-1].call > 0 && c.steps[n-1].ret > 20*ms {
					last.call, last.ret = c.steps[n-1].ret+1, c.steps[n-1].ret+2
				}
				dir := t.TempDir()
				err := story(c.model, append(append([]step(nil), c.steps...), last)).check(now, dir)
				if errors.Is(err, errBroken) != lie {
					t.Errorf("%+v: %v", last.out, err)
				} else if _, err := os.Stat(filepath.Join(dir, "story.html")); (err == nil) != lie {
					t.Errorf("%+v: the picture: %v", last.out, err)
				}
			}
		})
	}
}

// Numbers that callers can tell from their clocks to be wrong.
func TestOrderOfNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		numbers []stamped
		lie     bool
	}{
		"they rise":                  {[]stamped{{1, 1, 2, "a"}, {2, 3, 4, "b"}}, false},
		"calls at once":              {[]stamped{{2, 1, 9, "a"}, {1, 2, 8, "b"}}, false},
		"a later call has a smaller": {[]stamped{{2, 1, 2, "a"}, {1, 3, 4, "b"}}, true},
		"two callers have one":       {[]stamped{{2, 1, 5, "a"}, {2, 3, 4, "b"}}, true},
	} {
		if err := checkOrder("number", c.numbers); errors.Is(err, errBroken) != c.lie {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A follower has the final history, in order, once, and perhaps more behind it.
func TestFollowersAreCompared(t *testing.T) {
	final := []messageRow{{1, "a"}, {3, "b"}}
	for name, c := range map[string]struct {
		rows []messageRow
		lie  bool
	}{
		"all":            {final, false},
		"more behind it": {[]messageRow{{1, "a"}, {3, "b"}, {4, "c"}}, false},
		"one is missing": {[]messageRow{{3, "b"}}, true},
		"the last is":    {[]messageRow{{1, "a"}}, true},
		"one came twice": {[]messageRow{{1, "a"}, {1, "a"}, {3, "b"}}, true},
		"another text":   {[]messageRow{{1, "a"}, {3, "c"}}, true},
	} {
		f := &follower{rows: c.rows}
		if err := f.compare(final); errors.Is(err, errBroken) != c.lie {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := &follower{cursor: 3}
	if err := f.take([]messageRow{{3, "b"}}, 3); !errors.Is(err, errBroken) {
		t.Errorf("a row that it had: %v", err)
	}
}
