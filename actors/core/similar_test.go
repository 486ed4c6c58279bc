package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// Which rooms look alike, and why; which are siblings and are left in peace.
func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		a, b string
		rank int // -1: not alike
	}{
		{"Checkout", "checkout", 0},
		{"Check out", "check-out", 0},
		{"Check out", "CHECKOUT!", 0},
		{"Café", "cafe\u0301", 0},
		{"Café", "cafe", 0},
		{"Größe", "Grosse", 0},
		{"Don't", "dont", 0},
		{"🚀", "🚀", 0},
		{"sprint 12", "sprint-12", 0},
		{"api design", "Design API", 1},
		{"the web shop", "shop, the web", 1},
		{"build error", "build errors", 2},
		{"errors build", "build error", 2},
		{"city", "cities", 2},
		{"match", "matches", 2},
		{"box", "boxes", 2},
		{"indexes", "index", 2},
		{"frontend", "frontned", 3},
		{"frontend", "fronted", 3},
		{"front end", "frontned", 3},
		{"authentication", "authentification", 3},
		{"payment service", "paiment service", 3},

		{"sprint 1", "sprint 2", -1},
		{"sprint 1", "sprint 11", -1},
		{"release v1", "release v2", -1},
		{"release2029", "release2030", -1},
		{"team a", "team b", -1},
		{"test", "text", -1},
		{"import", "export", -1},
		{"frontend", "backend", -1},
		{"ios app", "web app", -1},
		{"design", "design review", -1},
		{"日本語", "日本人", -1},
		{"🚀", "🎯", -1},
		{"bus", "bu", -1},
		{"class", "clas", -1},
		{"inbound", "outbound", -1},
		{"paymemt servcie", "payment service", 3},
		{"paymemt servcie", "paiment servise", -1},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			want := lookOf(pair[0])
			if got := likeness(&want, pair[1]); got != c.rank {
				t.Errorf("%q and %q: %d, want %d", pair[0], pair[1], got, c.rank)
			}
		}
	}
}

// Every name looks like itself, and likeness does not depend on the order.
func TestLikenessIsSymmetric(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "ab", "1", "12", "checkout", "chekcout", "checkouts", "Größe", "the", "-", "'", "日本"})
	name := rapid.Map(rapid.SliceOfN(word, 1, 4), func(words []string) string { return strings.Join(words, " ") })
	rapid.Check(t, func(rt *rapid.T) {
		a, b := name.Draw(rt, "a"), name.Draw(rt, "b")
		x, y := lookOf(a), lookOf(b)
		if ab, ba := likeness(&x, b), likeness(&y, a); ab != ba {
			rt.Fatalf("%q and %q: %d one way, %d the other", a, b, ab, ba)
		}
		if likeness(&x, a) != 0 {
			rt.Fatalf("%q does not look like itself", a)
		}
	})
}

// A refusal shows the closest first and not more than people read; in a full
// project it is found while the owner holds up nobody for long.
func TestSimilarRooms(t *testing.T) {
	p := NewProjects()
	p.Apply(&ProjectCreated{Slug: "p", Name: "P"}, Position{Seq: 1}, nil)
	p.Apply(&ProjectCreated{Slug: "q", Name: "Q"}, Position{Seq: 2}, nil)
	seq := hub.Seq(2)
	add := func(project hub.ProjectID, name string) {
		seq++
		p.Apply(&RoomCreated{Project: project, Slug: fmt.Sprint("s", seq), Name: name}, Position{Seq: seq}, nil)
	}
	add("p_2", "build error")
	for _, name := range []string{"build errors", "error build", "Build-Error", "build 2"} {
		add("p_1", name)
	}
	got := ""
	for _, s := range p.similar("p_1", "build error") {
		got += s.Name + " because " + s.Why + "\n"
	}
	want := `Build-Error because its name is the same but for case, accents, spaces and punctuation
error build because its name is the same words in another order
build errors because its name is the same but for singular and plural
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for range hub.MaxProjectRooms - 4 {
		add("p_1", strings.Repeat("Größe ", 33))
	}
	begun := time.Now()
	if n := len(p.similar("p_1", strings.Repeat("größe ", 33))); n != maxCandidates {
		t.Errorf("%d candidates are shown, want %d", n, maxCandidates)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("a full project took %s", took)
	} else {
		t.Logf("a full project took %s", took)
	}
}
