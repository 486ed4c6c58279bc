package actors

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// talk is a dialogue of testdata/talks.
type talk struct {
	name  string
	turns []talkTurn
}

type talkTurn struct {
	gap      time.Duration // after the turn before
	from, to hub.AgentID   // to is empty where they talk in a room
	body     string
}

var turnLine = regexp.MustCompile(`^(\d+) ([a-z]+)(?: > ([a-z]+))?: (.*)$`)

// readTalk reads a dialogue: # begins a comment, and a bar a further line of a text.
func readTalk(t *testing.T, file string) talk {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	out := talk{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if more, further := strings.CutPrefix(line, "| "); further {
			out.turns[len(out.turns)-1].body += "\n" + more
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := turnLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%s: %q is no turn", file, line)
		}
		sec, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		out.turns = append(out.turns, talkTurn{time.Duration(sec) * time.Second, hub.AgentID(m[2]), hub.AgentID(m[3]), m[4]})
	}
	return out
}

// places are where a dialogue can be held: those of two agents anywhere.
func (d *talk) places() []string {
	if len(d.agents()) == 2 {
		return []string{"direct", "room", "thread"}
	}
	if d.turns[0].to != "" {
		return []string{"direct"}
	}
	return []string{"room", "thread"}
}

func (d *talk) agents() (all []hub.AgentID) {
	for i := range d.turns {
		if !slices.Contains(all, d.turns[i].from) {
			all = append(all, d.turns[i].from)
		}
	}
	return all
}

// input is the post of a turn at a place.
func (d *talk) input(i int, where string, room *hub.Room) hub.PostInput {
	one := &d.turns[i]
	in := hub.PostInput{FromAgent: one.from, Body: one.body}
	switch where {
	case "direct":
		in.ToAgent = one.to
		if agents := d.agents(); in.ToAgent == "" {
			in.ToAgent = agents[(slices.Index(agents, one.from)+1)%2]
		}
	case "thread":
		in.ThreadID = "t"
		in.Channel = room.Channel
	default:
		in.Channel = room.Channel
	}
	return in
}

// waited are the waits of a dialogue, and at which turn it was refused; -1: it was not.
type waited struct {
	waits   []int
	refused int
}

// hold has agents hold a dialogue. They wait as long as they are told, and repeat what waited.
func (r *rig) hold(d *talk, where string, room *hub.Room) (out waited) {
	r.t.Helper()
	for i := 0; i < len(d.turns); {
		time.Sleep(d.turns[i].gap)
		_, err := r.tryPost(r.t.Context(), d.input(i, where, room))
		for refusal := (*hub.Error)(nil); errors.As(err, &refusal) && refusal.Code == hub.CodeSlowed; {
			out.waits = append(out.waits, refusal.RetryAfter)
			time.Sleep(time.Duration(refusal.RetryAfter) * time.Second)
			_, err = r.tryPost(r.t.Context(), d.input(i, where, room))
		}
		if refusal := (*hub.Error)(nil); errors.As(err, &refusal) && refusal.Code == hub.CodeLoopStopped {
			out.refused = i
			return out
		}
		require.NoError(r.t, err)
		synctest.Wait()
		i++
	}
	out.refused = -1
	return out
}

// TestDiscussionsAreNotRefused: two to eight agents debug, review, plan, handle an incident and hand a
// draft on, for 20 to 80 turns without a task. They are told once at most and never
// refused, and hardly one post has to wait. The operator is asked nothing. Where the operator
// wants agents refused after twelve turns, the same dialogues of two are.
func TestDiscussionsAreNotRefused(t *testing.T) {
	files, err := filepath.Glob("testdata/talks/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d dialogues, %v", len(files), err)
	}
	held, turns, slowed, longest := 0, 0, 0, 0
	for _, file := range files {
		d := readTalk(t, file)
		if n := len(d.turns); n < 20 || n > 80 {
			t.Errorf("%s has %d turns", d.name, n)
		}
		for _, where := range d.places() {
			bubble(t, func(t *testing.T, r *rig) {
				room := r.makeRoom("room")
				got := r.hold(&d, where, &room)
				held, turns, slowed = held+1, turns+len(d.turns), slowed+len(got.waits)
				longest = max(longest, slices.Max(append(got.waits, 0)))
				if len(got.waits) > 0 {
					t.Logf("%s, %s: waits of %v s", d.name, where, got.waits)
				}
				if got.refused >= 0 || len(r.openAsks()) > 0 {
					t.Errorf("%s, %s: refused at turn %d, and the operator is asked %+v", d.name, where, got.refused, r.openAsks())
				}
				for _, agent := range d.agents() {
					n := strings.Count(strings.Join(r.toldTo(agent), "\n"), "times in turn")
					if n > 1 || n == 0 && len(d.agents()) == 2 {
						t.Errorf("%s, %s: %s was told %d times", d.name, where, agent, n)
					}
				}
			})
			if len(d.agents()) > 2 {
				continue
			}
			bubble(t, func(t *testing.T, r *rig) {
				room := r.guarded(12, d.agents()...)
				if got := r.hold(&d, where, &room); got.refused < 12 {
					t.Errorf("%s, %s: where the operator wants it, it is refused at turn %d", d.name, where, got.refused)
				}
			})
		}
	}
	t.Logf("%d dialogues of %d turns: 0 refused, %d posts slowed, for %d s at most", held, turns, slowed, longest)
	if slowed*100 > turns || longest > 5 {
		t.Errorf("%d of %d posts are slowed, for %d s at most", slowed, turns, longest)
	}
}

// bots is a few agents that answer each other for ever.
type bots struct {
	agents []hub.AgentID
	direct bool // each to the next one
	thread hub.ThreadID
	text   func(i int, last string) string // of turn i, after what was said last
}

// run has them post for a time and returns how many posts passed, and the last refusal. What
// is refused is tried again: after as long as they are told, or at once.
func (b *bots) run(r *rig, room *hub.Room, patient bool, within time.Duration) (posted int, last *hub.Error) {
	said := "hello"
	for began := time.Now(); time.Since(began) < within && posted < 200; synctest.Wait() {
		n := len(b.agents)
		in := hub.PostInput{FromAgent: b.agents[posted%n], Channel: room.Channel, ThreadID: b.thread, Body: b.text(posted, said)}
		if b.direct {
			in.Channel, in.ToAgent = "", b.agents[(posted+1)%n]
		}
		_, err := r.tryPost(r.t.Context(), in)
		switch {
		case err == nil:
			posted++
			said = in.Body
			time.Sleep(2 * time.Second)
		case !errors.As(err, &last) || last.Code != hub.CodeSlowed:
			r.t.Fatalf("turn %d: %v", posted, err)
		case patient:
			time.Sleep(min(time.Duration(last.RetryAfter)*time.Second, within))
		default:
			time.Sleep(time.Second)
		}
	}
	return posted, last
}

// uuid returns a random id.
func uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", rand.Uint32(), rand.IntN(1<<16), rand.IntN(1<<12), rand.IntN(1<<12), rand.Int64N(1<<48))
}

// TestEmptyTalkEnds: agents thank each other, say what they hear, count, or say the time, also in a
// ring of three. They have no more than twelve posts in an hour, although nobody has asked for
// refusals, and whether or not they wait as they are told. They are told before. Nobody asks the
// operator.
func TestEmptyTalkEnds(t *testing.T) {
	testrace.Avoid(t, "one goroutine posts for long")
	two, three := []hub.AgentID{"ann", "ben"}, []hub.AgentID{"ann", "ben", "cid"}
	same := func(text string) func(int, string) string { return func(int, string) string { return text } }
	clock := func(int, string) string {
		return time.Now().Format(time.RFC3339Nano) + " Nothing to do, waiting for you."
	}
	news := func(i int) string { return "Finding " + strings.Repeat(string(rune('a'+i%26)), 3+i/26) + " of today" }
	for name, b := range map[string]bots{
		"thanks":                 {agents: two, direct: true, text: same("Thank you!")},
		"thanks in the room":     {agents: two, text: same("Thank you!")},
		"thanks in a thread":     {agents: two, thread: "t", text: same("Thank you!")},
		"an echo":                {agents: two, direct: true, text: func(_ int, last string) string { return last }},
		"an echo that quotes":    {agents: two, text: func(_ int, last string) string { return strings.ToUpper(strings.TrimLeft(last, "> ")) + "!" }},
		"counted":                {agents: two, direct: true, text: func(i int, _ string) string { return fmt.Sprintf("Ping %d, please confirm", i) }},
		"numbers alone":          {agents: two, text: func(i int, _ string) string { return fmt.Sprint(i * 7919) }},
		"the time":               {agents: two, direct: true, text: clock},
		"an id":                  {agents: two, direct: true, text: func(i int, _ string) string { return fmt.Sprintf("ack %08x-%04d", i*2654435761, i) }},
		"a uuid":                 {agents: two, direct: true, text: func(int, string) string { return "Received, thank you: " + uuid() }},
		"a hash":                 {agents: two, text: func(int, string) string { return "Seen " + strings.ReplaceAll(uuid(), "-", "") + " and noted" }},
		"hidden characters":      {agents: two, direct: true, text: func(i int, _ string) string { return "Thank" + strings.Repeat("\u200b", i) + " you" }},
		"each its own":           {agents: two, direct: true, text: func(i int, _ string) string { return []string{"Anything else?", "No, and you?"}[i%2] }},
		"a few phrases":          {agents: two, text: func(i int, _ string) string { return []string{"Thanks!", "Glad to help", "Great work"}[i%3] }},
		"a ring":                 {agents: three, direct: true, text: same("over to you")},
		"a ring that counts":     {agents: three, direct: true, text: func(i int, _ string) string { return fmt.Sprintf("over to you (round %d)", i/3) }},
		"a ring, each its own":   {agents: three, direct: true, text: func(i int, _ string) string { return []string{"please check", "please merge", "please test"}[i%3] }},
		"three in the room":      {agents: three, text: same("Well done, all!")},
		"three in a thread":      {agents: three, thread: "t", text: clock},
		"an echo of news":        {agents: two, direct: true, text: func(i int, last string) string { return []string{news(i), last}[i%2] }},
		"news and then its echo": {agents: two, text: func(i int, last string) string { return []string{last, news(i)}[i%2] }},
	} {
		for _, patient := range []bool{true, false} {
			bubble(t, func(t *testing.T, r *rig) {
				room := r.makeRoom("room")
				posted, last := b.run(r, &room, patient, time.Hour)
				if posted > 12 || last == nil || last.Detail["why"] != "repeats" {
					t.Errorf("%s, patient %v: %d posts in an hour, the last refusal %v", name, patient, posted, last)
				}
				if len(r.openAsks()) > 0 {
					t.Errorf("%s: the operator is asked", name)
				}
				for _, agent := range b.agents {
					if n := strings.Count(strings.Join(r.toldTo(agent), "\n"), "times in turn"); n != 1 {
						t.Errorf("%s: %s was told %d times", name, agent, n)
					}
				}
				// What says something new passes at once, and so does work.
				in := hub.PostInput{FromAgent: b.agents[posted%len(b.agents)], Channel: room.Channel, ThreadID: b.thread, Body: "The build of the docs is broken since noon: a missing font"}
				if b.direct {
					in.Channel, in.ToAgent = "", b.agents[(posted+1)%len(b.agents)]
				}
				r.post(in)
				in.Kind = hub.KindTaskRequest
				r.post(in)
			})
		}
	}
}
