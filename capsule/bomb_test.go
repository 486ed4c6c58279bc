package capsule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// allocated returns how many bytes a function allocates, those that were freed meanwhile
// included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombsAreRefusedInLittleMemory: what is small and expands to much costs its reader
// little.
func TestBombsAreRefusedInLittleMemory(t *testing.T) {
	testrace.Avoid(t, "it measures memory")
	const r1 = "messages/r1.ndjson"
	short := DefaultLimits()
	short.Texts = hub.Limits{MaxBodyChars: 10_000, MaxAttachmentChars: 10_000, MaxAttachments: 2}
	cheap := func(name string, size uint32) func(*draft) {
		return onEntry(name, func(e *draftEntry) { e.size = u32(size) })
	}
	for what, c := range map[string]struct {
		do     func(*draft)
		limits Limits
		code   hub.Code
		most   uint64 // bytes allocated
	}{
		"a line of 70 MiB":      {changed(r1, `"done"`, `"`+strings.Repeat(" ", 70<<20)+`"`), DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"a line of 12 MiB":      {changed(r1, `"done"`, `"`+strings.Repeat(" ", 12<<20)+`"`), short, hub.CodeCapsuleInvalid, 16 << 20},
		"12 MiB without a line": {func(d *draft) { d.of(nameRuns).data = strings.Repeat("x", 12<<20) }, short, hub.CodeCapsuleInvalid, 16 << 20},
		"12 MiB of empty lines": {func(d *draft) { d.of(nameRuns).data = strings.Repeat("\n", 12<<20) }, short, hub.CodeCapsuleInvalid, 4 << 20},
		"a size of 4 GiB":       {cheap(nameRooms, 0xfffffffe), DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"a README of 4 GiB":     {cheap(nameReadme, 0xfffffffe), DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"a manifest of 1 GiB":   {cheap(nameManifest, 1<<30), DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"a manifest of 60 MiB":  {cheap(nameManifest, 60<<20), DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"a manifest of many entries": {func(d *draft) {
			d.raw = func(s string) string {
				return strings.Replace(s, `"entries":[`, `"entries":[`+strings.Repeat(`{},`, 1_000_000), 1)
			}
		}, DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"a manifest of some entries": {func(d *draft) {
			d.raw = func(s string) string {
				return strings.Replace(s, `"entries":[`, `"entries":[`+strings.Repeat(`{"path":"","sha256":"","bytes":0},`, 30_000), 1)
			}
		}, DefaultLimits(), hub.CodeCapsuleInvalid, 24 << 20},
		"a message of many attachments": {changed(r1, `"attachments":[`, `"attachments":[`+strings.Repeat(`{"type":""},`, 1_000_000)), DefaultLimits(), hub.CodeCapsuleInvalid, 96 << 20},
		"a message of many names":       {changed(r1, `"#m2"`, `{`+names(600_000)+`"z":1}`), DefaultLimits(), hub.CodeCapsuleInvalid, 96 << 20},
		"a task that waits for many":    {changed(nameTasks, `[5]`, `[`+strings.Repeat("5,", 2_000_000)+`5]`), DefaultLimits(), hub.CodeCapsuleInvalid, 96 << 20},
		"agents without end": {func(d *draft) {
			var b strings.Builder
			for n := range 300_000 {
				fmt.Fprintf(&b, "{\"id\":\"a%07d\"}\n", n)
			}
			d.of(nameAgents).data = b.String()
		}, DefaultLimits(), hub.CodeCapsuleTooLarge, 4 << 20},
		"numbers without end": {lied(func(m *Manifest) { m.Counts.Tasks = 1 << 40 }), DefaultLimits(), hub.CodeCapsuleInvalid, 4 << 20},
	} {
		d := newDraft(t)
		c.do(d)
		raw := d.build(t)
		var err error
		got := allocated(func() { err = readAll(raw, c.limits) })
		if !errors.Is(err, &hub.Error{Code: c.code}) || got > c.most {
			t.Errorf("%s: %d bytes give %v and take %d bytes, want %s and at most %d", what, len(raw), err, got, c.code, c.most)
		}
	}
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%x":1,`, i)
	}
	return b.String()
}

// TestLimitsHold makes each limit smaller than the sample needs.
func TestLimitsHold(t *testing.T) {
	raw, m := newSample().write(t, someManifest, deflateLevel)
	for what, set := range map[string]func(l *Limits){
		"file":     func(l *Limits) { l.FileBytes = int64(len(raw)) - 1 },
		"expanded": func(l *Limits) { l.ExpandedBytes = 1_000 },
		"entry":    func(l *Limits) { l.EntryBytes = 500 },
		"manifest": func(l *Limits) { l.ManifestBytes = 1_000 },
		"entries":  func(l *Limits) { l.Entries = len(m.Entries) + 1 },
		"ratio":    func(l *Limits) { l.RatioFrom, l.Ratio = 0, 1 },
		"messages": func(l *Limits) { l.Messages = 9 },
		"things":   func(l *Limits) { l.Things = 4 },
		"waits":    func(l *Limits) { l.Waits = 0 },
	} {
		l := DefaultLimits()
		set(&l)
		if err := readAll(raw, l); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleTooLarge}) {
			t.Errorf("beyond the limit of %s: %v", what, err)
		}
	}
}

// TestMemoryDoesNotGrowWithTheProject writes and reads 8,000 and 80,000 messages.
func TestMemoryDoesNotGrowWithTheProject(t *testing.T) {
	testrace.Avoid(t, "it measures memory")
	live := func(messages int) uint64 {
		s := newSample()
		var file bytes.Buffer
		w := NewWriter(&file, someManifest)
		require.NoError(t, w.Project(s.project))
		section(t, w, nameRooms, s.rooms[:1])
		section(t, w, nameAgents, s.agents)
		require.NoError(t, w.Section(MessagesPath("r1")))
		var most uint64
		look := func() {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc-uint64(file.Cap()))
		}
		for n := 1; n <= messages; n++ {
			m := ordinaryMessage(n)
			m.From = "ann"
			require.NoError(t, w.Line(&m))
			if n%(messages/4) == 0 {
				look()
			}
		}
		_, err := w.Close()
		require.NoError(t, err)
		r, err := Open(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultLimits())
		require.NoError(t, err)
		calls := 0
		require.NoError(t, r.Verify(context.Background(), func(int64, int64) {
			if calls++; calls%(messages/4_000) == 0 {
				look()
			}
		}))
		return most
	}
	small := live(8_000)
	if large := live(80_000); large > small+2<<20 {
		t.Errorf("8,000 messages take %d bytes at most, 80,000 take %d", small, large)
	}
}

// FuzzReader changes whole archives.
func FuzzReader(f *testing.F) {
	raw, _ := newSample().write(f, someManifest, deflateLevel)
	f.Add(raw)
	stored, _ := newSample().write(f, someManifest, flateNone)
	f.Add(stored)
	f.Fuzz(func(t *testing.T, raw []byte) { readsOrRefuses(t, raw) })
}

// FuzzLines puts any text into any entry, and makes the manifest fit.
func FuzzLines(f *testing.F) {
	for i, name := range append([]string{nameProject, MessagesPath("r1"), MessagesPath("r2")}, sections...) {
		f.Add(uint8(i), newDraft(f).of(name).data)
	}
	f.Fuzz(func(t *testing.T, which uint8, data string) {
		all := append([]string{nameProject, MessagesPath("r1"), MessagesPath("r2")}, sections...)
		d := newDraft(t)
		d.of(all[int(which)%len(all)]).data = data
		readsOrRefuses(t, d.build(t))
	})
}

// readsOrRefuses reads a capsule. What is taken is written again, and gives a digest that
// stays.
func readsOrRefuses(t *testing.T, raw []byte) {
	err := readAll(raw, DefaultLimits())
	var e *hub.Error
	if err != nil {
		if !errors.As(err, &e) || e.Fix == "" {
			t.Fatalf("%v is no refusal", err)
		}
		return
	}
	s := read(t, open(t, raw))
	m := someManifest
	m.Scope, m.Privacy = open(t, raw).Manifest().Scope, open(t, raw).Manifest().Privacy
	again, first := s.write(t, m, flateNone)
	if _, second := read(t, open(t, again)).write(t, m, flateNone); first.ContentDigest != second.ContentDigest {
		t.Fatal("the digest changes each time")
	}
}
