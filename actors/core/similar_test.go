package core

import (
	"fmt"
	"slices"
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
			if got := likeness(lookOf(pair[0]), lookOf(pair[1])); got != c.rank {
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
		if ab, ba := likeness(x, y), likeness(y, x); ab != ba {
			rt.Fatalf("%q and %q: %d one way, %d the other", a, b, ab, ba)
		}
		if likeness(x, lookOf(a)) != 0 {
			rt.Fatalf("%q does not look like itself", a)
		}
	})
}

// A refusal shows the closest first and not more than people read.
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
	if n := len(p.similar("p_1", strings.Repeat("größe ", 33))); n != maxCandidates {
		t.Errorf("%d candidates are shown, want %d", n, maxCandidates)
	}
}

// wholeMatrix is the distance of two names by the textbook.
func wholeMatrix(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			next[j+1] = min(d, row[j+1]+1, next[j]+1)
		}
		row = next
	}
	return row[len(b)]
}

// In a full project of names as long as they may be, which differ late, early or
// all over, look-alikes are found while the owner holds up nobody for long.
func TestSimilarRoomsInAFullProject(t *testing.T) {
	const share, sample = 8, 10 // of what a whole matrix for each room takes, on the same machine under the same load
	long := strings.Repeat("abcdefghij", 28)
	for name, nameOf := range map[string]func(int) string{
		"common beginning": func(i int) string { return long + fmt.Sprintf("%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676) },
		"common end":       func(i int) string { return fmt.Sprintf("%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676) + long },
		"common middle":    func(i int) string { return fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26%26) + long + fmt.Sprint("xy"[i%2:]) },
		"many words": func(i int) string {
			return strings.Repeat("größten ", 36) + fmt.Sprintf("%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
		},
		"nothing common": func(i int) string { return strings.Repeat(fmt.Sprintf("%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676), 93) },
	} {
		t.Run(name, func(t *testing.T) {
			p := NewProjects()
			p.Apply(&ProjectCreated{Slug: "p", Name: "P"}, Position{Seq: 1}, nil)
			for i := range hub.MaxProjectRooms {
				p.Apply(&RoomCreated{Project: "p_1", Slug: fmt.Sprint("s", i), Name: nameOf(i)}, Position{Seq: hub.Seq(2 + i)}, nil)
			}
			name := nameOf(hub.MaxProjectRooms)
			least, matrices := time.Hour, time.Hour
			for range 5 {
				begun := time.Now()
				p.similar("p_1", name)
				least = min(least, time.Since(begun))
				begun = time.Now()
				for i := range sample {
					wholeMatrix([]rune(nameOf(i)), []rune(name))
				}
				matrices = min(matrices, time.Since(begun)*hub.MaxProjectRooms/sample)
			}
			if t.Logf("%s, whole matrices %s", least, matrices); least > matrices/share {
				t.Errorf("it took %s, whole matrices take %s", least, matrices)
			}
		})
	}
}

// What edits finds in a band of the matrix is what the whole matrix says.
func TestEditsInABand(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abäöх日")), 0, 12, -1)
		a := letters.Draw(rt, "a")
		b := letters.Draw(rt, "b")
		if rapid.Bool().Draw(rt, "near") { // a with a few slips
			r := []rune(a)
			for range rapid.IntRange(0, 3).Draw(rt, "slips") {
				at := rapid.IntRange(0, len(r)).Draw(rt, "at")
				switch way := rapid.IntRange(0, 3).Draw(rt, "way"); {
				case way == 0:
					r = slices.Insert(r, at, 'b')
				case way == 1 && at < len(r):
					r = slices.Delete(r, at, at+1)
				case way == 2 && at+1 < len(r):
					r[at], r[at+1] = r[at+1], r[at]
				case way == 3 && at < len(r):
					r[at] = 'ä'
				}
			}
			b = string(r)
		}
		for limit := 1; limit <= maxEdits; limit++ {
			got, want := edits(a, b, limit), allEdits([]rune(a), []rune(b))
			if got != want && (got <= limit || want <= limit) {
				rt.Fatalf("%q and %q within %d: %d edits, want %d", a, b, limit, got, want)
			}
		}
	})
}

// allEdits is edits by the whole matrix.
func allEdits(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			d[i][j] = min(d[i-1][j], d[i][j-1], d[i-1][j-1]) + 1
			if a[i-1] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
