package actors

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
)

// units are names of files and of parts of a program.
var units = []string{"parser", "scanner", "loader", "printer", "poller", "watcher", "router", "encoder", "decoder", "limiter", "journal", "checkpoint", "bridge", "session", "console", "forwarder", "capsule", "budget", "roster", "lease"}

// TestReviewsAreNotSlowed: one agent asks for a review of each file or part, and the other answers in
// the same words each time. Nothing of that waits for what it repeats, with or without reply_to.
func TestReviewsAreNotSlowed(t *testing.T) {
	for name, tt := range map[string]struct {
		ask, answer func(unit string) string
		replies     bool
	}{
		"files": {
			func(u string) string { return "Please review internal/" + u + ".go next and tell me what is wrong." },
			func(u string) string { return "Done: internal/" + u + ".go, no problem found." }, false,
		},
		"parts": {
			func(u string) string { return "Please review the " + u + " next and tell me what is wrong." },
			func(u string) string { return "Done: the " + u + " has no problem that I found." }, false,
		},
		"replies": {
			func(u string) string { return "Please review internal/" + u + ".go next and tell me what is wrong." },
			func(string) string { return "Done, no problem found." }, true,
		},
	} {
		bubble(t, func(t *testing.T, r *rig) {
			for _, unit := range units {
				asked := r.post(hub.PostInput{FromAgent: "ld2", ToAgent: "wk2", Body: tt.ask(unit)})
				synctest.Wait()
				time.Sleep(10 * time.Second)
				in := hub.PostInput{FromAgent: "wk2", ToAgent: "ld2", Body: tt.answer(unit)}
				if tt.replies {
					in.ReplyTo = asked.ID
				}
				if _, err := r.tryPost(t.Context(), in); err != nil {
					t.Fatalf("%s, %s: %v", name, unit, err)
				}
				synctest.Wait()
				time.Sleep(10 * time.Second)
			}
		})
	}
}

// TestRandomWordIsSlowed: agents that repeat themselves with another word each time wait, at most
// for a minute: they may mean something.
func TestRandomWordIsSlowed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		b := bots{agents: []hub.AgentID{"ann", "ben"}, direct: true, text: func(int, string) string {
			return "Thank you very much, dear " + units[rand.IntN(len(units))] + "!"
		}}
		posted, last := b.run(r, &room, true, time.Hour)
		if posted > 75 || last == nil || last.Detail["why"] != "repeats" {
			t.Errorf("%d posts in an hour, the last refusal %v", posted, last)
		}
	})
}

// TestOthersRepeatsBindNobody: two agents of a room repeat themselves until their words rest. A third
// one that says them for the first time does not wait, and neither does anything new that it says.
func TestOthersRepeatsBindNobody(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		r.post(hub.PostInput{FromAgent: "h2", Channel: room.Channel, Body: "Hello, I look after the builds"})
		b := bots{agents: []hub.AgentID{"m1", "m2"}, text: func(int, string) string { return "The build passed." }}
		if posted, last := b.run(r, &room, true, 30*time.Minute); posted > 12 || last == nil || last.RetryAfter < 3000 {
			t.Errorf("%d posts, then %v", posted, last)
		}
		r.post(hub.PostInput{FromAgent: "h2", Channel: room.Channel, Body: "Build 4711 passed"})
		r.post(hub.PostInput{FromAgent: "h2", Channel: room.Channel, Body: "Who looks after the notes of this release?"})
		_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "m1", Channel: room.Channel, Body: "The build passed."})
		wantCode(t, err, hub.CodeSlowed)
	})
}

// TestNoteIsNoProgress: what an agent says about a task of which nothing changes hides no loop.
func TestNoteIsNoProgress(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		task := r.task(hub.PostInput{FromAgent: "ann", Channel: "general", Body: "work"})
		ben := hub.AgentID("ben")
		must(r.UpdateTask(t.Context(), task, hub.TaskUpdateInput{AgentID: "ben", Assignee: &ben}))
		synctest.Wait()
		agents := []hub.AgentID{"ann", "ben"}
		for i := range 30 {
			_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: agents[i%2], ToAgent: agents[(i+1)%2], Body: "Thank you!"})
			if refusal := (*hub.Error)(nil); errors.As(err, &refusal) && refusal.Code == hub.CodeSlowed {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := r.UpdateTask(t.Context(), task, hub.TaskUpdateInput{AgentID: "ann", Assignee: &ben, Note: "Good luck"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		t.Error("thirty thanks pass between notes")
	})
}
