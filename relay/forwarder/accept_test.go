package forwarder

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/maker"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// keyOf is the secret of a data root of its own.
func keyOf(t *testing.T) *maker.Key {
	t.Helper()
	key, err := maker.Load(t.TempDir())
	require.NoError(t, err)
	return key
}

// accepting is a change of a configuration.
func accepting(a Acceptance) func(*Config) {
	return func(c *Config) { c.Accept, c.Create = &a, a.Named }
}

// TestSpoolOfOthersIsNotServed: a spool that nobody has named is served only by the hub that
// has accepted it before. Nothing in any other is taken, moved or made.
func TestSpoolOfOthersIsNotServed(t *testing.T) {
	mine := Acceptance{Key: keyOf(t), Server: "hub a"}
	for name, bring := range map[string]func(b *bench, dir string){
		"without a mark": func(*bench, string) {},
		"of another user": func(b *bench, _ string) {
			b.forward(accepting(Acceptance{Key: keyOf(t), Server: "hub a", Named: true}))()
		},
		"of another hub": func(b *bench, _ string) {
			b.forward(accepting(Acceptance{Key: mine.Key, Server: "hub b", Named: true}))()
		},
		"a copy of mine": func(b *bench, dir string) {
			b.forward(accepting(Acceptance{Key: mine.Key, Server: "hub a", Named: true}))()
			require.NoError(b, os.Rename(dir, dir+".first"))
			require.NoError(b, os.CopyFS(dir, os.DirFS(dir+".first")))
		},
		"where a link leads": func(b *bench, dir string) {
			b.forward(accepting(Acceptance{Key: mine.Key, Server: "hub a", Named: true}))()
			require.NoError(b, os.Rename(dir, dir+".first"))
			if err := os.Symlink(dir+".first", dir); err != nil {
				b.Skip("needs symbolic links")
			}
		},
		"an empty folder": func(b *bench, dir string) {
			require.NoError(b, os.RemoveAll(dir))
			require.NoError(b, os.Mkdir(dir, 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, testhub.Start(t).URL)
			bring(b, b.dir)
			id := b.ask("lead", http.MethodPost, "/v1/messages", `{"from_agent":"lead","body":"planted"}`)
			before := tree(t, b.dir)
			_, stop := b.forwardUnready(accepting(mine))
			b.until("refusal", func() bool { return strings.Contains(b.log.String(), ErrNotAccepted.Error()) })
			stop()
			if after := tree(t, b.dir); after != before {
				t.Errorf("the spool has\n%s\nand had\n%s", after, before)
			}
			if _, err := os.Lstat(b.path(relay.RequestsDir, "lead", string(id)+relay.DoneSuffix)); err != nil {
				t.Error(err)
			}
		})
	}
}

// tree lists all files below a folder, with their times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	var all []string
	require.NoError(t, filepath.Walk(real, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			all = append(all, path+" "+info.ModTime().String())
		}
		return err
	}))
	return strings.Join(all, "\n")
}

// TestWhatLayInASpoolBefore: once a spool is named, what lay in it is answered and moved away,
// whatever time it claims; what comes later is carried out, also if no forwarder runs then.
func TestWhatLayInASpoolBefore(t *testing.T) {
	key := keyOf(t)
	for name, again := range map[string]Acceptance{
		"named again":    {Key: key, Server: "hub a", Named: true},
		"by its mark":    {Key: key, Server: "hub a"},
		"as another hub": {Key: key, Server: "hub b", Named: true},
		"as a relay":     {Key: key, Server: "relay", Anyones: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, testhub.Start(t).URL)
			const post = `{"from_agent":"lead","body":"planted"}`
			planted := b.ask("lead", http.MethodPost, "/v1/messages", post)
			left := string(relay.NewRequestID())
			b.put("lead", left+relay.WorkSuffix, []byte(`{"request_id":"`+left+`","agent_id":"lead","method":"POST","path":"/v1/messages","body":`+post+`}`))
			for _, id := range []string{string(planted), left} { // a file says what it likes about its time
				for _, ending := range []string{relay.DoneSuffix, relay.WorkSuffix} {
					future := time.Now().AddDate(1, 0, 0)
					_ = os.Chtimes(b.path(relay.RequestsDir, "lead", id+ending), future, future)
				}
			}
			stop := b.forward(accepting(Acceptance{Key: key, Server: "hub a", Named: true}))
			for _, id := range []relay.RequestID{planted, relay.RequestID(left)} {
				r, _ := b.answer("lead", id)
				if r.Status != http.StatusForbidden || !strings.Contains(string(r.Body), string(hub.CodeNotRelayed)) {
					t.Errorf("the answer is %d %s", r.Status, r.Body)
				}
			}
			stop()
			late := b.ask("lead", http.MethodPost, "/v1/messages", `{"from_agent":"lead","body":"honest"}`)
			b.forward(accepting(again))
			if r, _ := b.answer("lead", late); r.Status != http.StatusCreated {
				t.Errorf("a request of later is answered %d %s", r.Status, r.Body)
			}
			if all := b.bodies(); !slices.Equal(all, []string{"honest"}) {
				t.Errorf("the messages are %q", all)
			}
		})
	}
}

// TestSpoolThatItMakesIsItsOwn: nobody has to name a spool that the forwarder makes.
func TestSpoolThatItMakesIsItsOwn(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	require.NoError(t, os.RemoveAll(b.dir))
	a := Acceptance{Key: keyOf(t), Server: "relay", Anyones: true}
	for range 2 {
		stop := b.forward(func(c *Config) { c.Accept, c.Create = &a, true })
		id := b.ask("lead", http.MethodPost, "/v1/messages", `{"from_agent":"lead","body":"x"}`)
		if r, _ := b.answer("lead", id); r.Status != http.StatusCreated {
			t.Errorf("the answer is %d %s", r.Status, r.Body)
		}
		stop()
	}
}

// TestWithoutDataRootEachStartAccepts: without a secret a named spool is served, and what
// lay in it is not.
func TestWithoutDataRootEachStartAccepts(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	for range 2 {
		planted := b.ask("lead", http.MethodPost, "/v1/messages", `{"from_agent":"lead","body":"planted"}`)
		stop := b.forward(accepting(Acceptance{Server: "relay", Named: true}))
		if r, _ := b.answer("lead", planted); r.Status != http.StatusForbidden {
			t.Errorf("the answer is %d %s", r.Status, r.Body)
		}
		id := b.ask("lead", http.MethodPost, "/v1/messages", `{"from_agent":"lead","body":"x"}`)
		if r, _ := b.answer("lead", id); r.Status != http.StatusCreated {
			t.Errorf("the answer is %d %s", r.Status, r.Body)
		}
		stop()
	}
}
