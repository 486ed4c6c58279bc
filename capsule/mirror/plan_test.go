package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/internal/require"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// tree is a folder in memory; "link" stands for something that is no file.
type tree map[string]string

const link = "link"

func (t tree) look(path string) (Found, error) {
	text, ok := t[path]
	switch {
	case !ok:
		return Found{}, nil
	case text == link:
		return Found{Exists: true}, nil
	}
	return Found{Exists: true, SHA: hash(text)}, nil
}

func hashes(texts map[string]string) map[string]string {
	out := map[string]string{}
	for path, text := range texts {
		out[path] = hash(text)
	}
	return out
}

func plan(t require.TB, l Ledger, want map[string]string, now tree) Plan {
	t.Helper()
	p, err := NewPlan(&l, hashes(want), now.look)
	require.NoError(t, err)
	return p
}

// carryOut does the steps up to n of them, and returns the ledger that stands there then.
func (t tree) carryOut(p Plan, want map[string]string, n int) Ledger {
	for i, s := range p.Steps {
		if i == n {
			return p.During
		}
		switch s.Do {
		case Write, Replace:
			t[s.Path] = want[s.From]
		case Remove:
			delete(t, s.Path)
		case Same, Kept:
		}
	}
	return p.After
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name          string
		ledger, want  map[string]string
		now           tree
		steps, ledged string
	}{
		{"new", nil, map[string]string{"a.md": "1"}, tree{}, "write a.md", "a.md=1"},
		{"own", map[string]string{"a.md": "1"}, map[string]string{"a.md": "2"}, tree{"a.md": "1"}, "replace a.md", "a.md=2"},
		{"same", map[string]string{"a.md": "1"}, map[string]string{"a.md": "1"}, tree{"a.md": "1"}, "same a.md", "a.md=1"},
		{"changed", map[string]string{"a.md": "1"}, map[string]string{"a.md": "2"}, tree{"a.md": "mine"}, "kept a.md, write a.md.new", "a.md=1 a.md.new=2"},
		{"changed twice", map[string]string{"a.md": "1", "a.md.new": "2"}, map[string]string{"a.md": "3"}, tree{"a.md": "mine", "a.md.new": "2"}, "kept a.md, replace a.md.new", "a.md=1 a.md.new=3"},
		{"both changed", map[string]string{"a.md": "1", "a.md.new": "2"}, map[string]string{"a.md": "3"}, tree{"a.md": "mine", "a.md.new": "mine too"}, "kept a.md, kept a.md.new", "a.md=1"},
		{"taken over by its owner", map[string]string{"a.md": "1", "a.md.new": "2"}, map[string]string{"a.md": "2"}, tree{"a.md": "2", "a.md.new": "2"}, "same a.md, remove a.md.new", "a.md=2"},
		{"changed to what is wanted", map[string]string{"a.md": "1"}, map[string]string{"a.md": "2"}, tree{"a.md": "2"}, "same a.md", "a.md=2"},
		{"somebody else's", nil, map[string]string{"a.md": "1"}, tree{"a.md": "mine"}, "kept a.md, write a.md.new", "a.md.new=1"},
		{"a link", map[string]string{"a.md": "1"}, map[string]string{"a.md": "2"}, tree{"a.md": link}, "kept a.md, write a.md.new", "a.md=1 a.md.new=2"},
		{"a link beside", nil, map[string]string{"a.md": "2"}, tree{"a.md": "mine", "a.md.new": link}, "kept a.md, kept a.md.new", ""},
		{"deleted by somebody", map[string]string{"a.md": "1"}, map[string]string{"a.md": "1"}, tree{}, "write a.md", "a.md=1"},
		{"no longer wanted", map[string]string{"a.md": "1"}, nil, tree{"a.md": "1"}, "remove a.md", ""},
		{"no longer wanted, changed", map[string]string{"a.md": "1"}, nil, tree{"a.md": "mine"}, "kept a.md", ""},
		{"no longer wanted, gone", map[string]string{"a.md": "1"}, nil, tree{}, "", ""},
		{"others", nil, nil, tree{"mine.md": "1"}, "", ""},
	} {
		l := NewLedger()
		l.Files = hashes(c.ledger)
		p := plan(t, l, c.want, c.now)
		var steps []string
		for _, s := range p.Steps {
			steps = append(steps, string(s.Do)+" "+s.Path)
		}
		if got := strings.Join(steps, ", "); got != c.steps {
			t.Errorf("%s: %s, want %s", c.name, got, c.steps)
		}
		var ledged []string
		for _, path := range slices.Sorted(maps.Keys(p.After.Files)) {
			for _, text := range []string{"1", "2", "3"} {
				if p.After.Files[path] == hash(text) {
					ledged = append(ledged, path+"="+text)
				}
			}
		}
		if got := strings.Join(ledged, " "); got != c.ledged || len(p.After.Files) != len(ledged) || p.After.Pending != nil {
			t.Errorf("%s: the ledger is %s, want %s", c.name, got, c.ledged)
		}
	}
}

// Whatever is in a folder, and wherever runs are cut off: texts of others stay, nothing of a
// mirror is left behind that no later run removes, and the last run gives what it wants.
func TestRunsThatAreCutOff(t *testing.T) {
	paths := []string{"a.md", "b.md", "a.md.new", "c/d.md"}
	rapid.Check(t, func(t *rapid.T) {
		now, ledger, mine := tree{}, NewLedger(), map[string]string{}
		for run := range rapid.IntRange(1, 6).Draw(t, "runs") {
			if rapid.Bool().Draw(t, "edit") {
				path := rapid.SampledFrom(paths).Draw(t, "path")
				mine[path] = fmt.Sprintf("mine %d", run)
				now[path] = mine[path]
			}
			want := map[string]string{}
			for _, path := range []string{"a.md", "b.md", "c/d.md"} {
				if text := rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, path); text != "" {
					want[path] = text + path
				}
			}
			p := plan(t, ledger, want, now)
			cut := rapid.IntRange(0, len(p.Steps)).Draw(t, "steps")
			ledger = now.carryOut(p, want, cut)
			for path, text := range mine {
				if now[path] != text {
					t.Fatalf("%s of somebody else is %q", path, now[path])
				}
			}
			if cut < len(p.Steps) {
				continue
			}
			for path, text := range want {
				if mine[path] == "" && now[path] != text {
					t.Fatalf("%s is %q, want %q", path, now[path], text)
				}
			}
			for path := range now {
				if mine[path] == "" && want[path] == "" && want[strings.TrimSuffix(path, NewSuffix)] == "" {
					t.Fatalf("%s is left behind", path)
				}
			}
		}
	})
}

func TestPlanDigest(t *testing.T) {
	want := map[string]string{"a.md": "1"}
	first := plan(t, NewLedger(), want, tree{})
	again := plan(t, NewLedger(), want, tree{})
	if first.Digest() != again.Digest() {
		t.Error("the same plan has another digest")
	}
	for name, other := range map[string]Plan{
		"another content": plan(t, NewLedger(), map[string]string{"a.md": "2"}, tree{}),
		"another state":   plan(t, NewLedger(), want, tree{"a.md": "mine"}),
		"another edit":    plan(t, NewLedger(), want, tree{"a.md": "mine", "b.md": ""}),
	} {
		if other.Digest() == first.Digest() {
			t.Errorf("%s has the same digest", name)
		}
	}
}

func TestPlanPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	l := NewLedger()
	l.Files["b.md"] = hash("1")
	for _, at := range []string{"a.md", "a.md.new", "b.md"} {
		_, err := NewPlan(&l, map[string]string{"a.md": hash("1")}, func(path string) (Found, error) {
			if path == at {
				return Found{}, broken
			}
			return Found{Exists: true}, nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestLedger(t *testing.T) {
	l := NewLedger()
	l.Files["rooms/api.md"] = hash("1")
	l.Pending = map[string]string{"b.md": hash("2")}
	back, err := ParseLedger(l.JSON())
	require.NoError(t, err)
	if !maps.Equal(back.Files, l.Files) || !maps.Equal(back.Pending, l.Pending) {
		t.Errorf("read %v", back)
	}
	for name, text := range map[string]string{
		"no JSON":        "x",
		"two values":     string(l.JSON()) + "{}",
		"another tool":   `{"tool":"x","schema":1,"files":{}}`,
		"another schema": `{"tool":"hubcli","schema":2,"files":{}}`,
		"a path out":     `{"tool":"hubcli","schema":1,"files":{"../x":"` + hash("") + `"}}`,
		"absolute":       `{"tool":"hubcli","schema":1,"files":{"/x":"` + hash("") + `"}}`,
		"a drive":        `{"tool":"hubcli","schema":1,"files":{"c:x":"` + hash("") + `"}}`,
		"a backslash":    `{"tool":"hubcli","schema":1,"files":{"a\\b":"` + hash("") + `"}}`,
		"itself":         `{"tool":"hubcli","schema":1,"files":{".mirror.json":"` + hash("") + `"}}`,
		"pending out":    `{"tool":"hubcli","schema":1,"files":{},"pending":{"a/../../x":"` + hash("") + `"}}`,
		"no hash":        `{"tool":"hubcli","schema":1,"files":{"a":"x"}}`,
	} {
		if _, err := ParseLedger([]byte(text)); err == nil {
			t.Errorf("%s: the ledger is taken", name)
		}
	}
	if empty, err := ParseLedger([]byte(`{"tool":"hubcli","schema":1}`)); err != nil || empty.Files == nil {
		t.Errorf("an empty ledger: %v", err)
	}
}
