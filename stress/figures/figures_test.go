package figures

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
	"hubcli/stress/bench"
)

func sample() *Data {
	return &Data{
		Machine: Machine{Processor: "A | B", Processors: 2, MemoryMiB: 7_680, System: "Linux 6.1", Disk: "ext4"},
		Took:    32 * time.Minute,
		Bench: bench.Report{Time: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), Results: []bench.Result{
			{Figure: "posts <64> & more", Unit: "/s", Hub: 15_000, Ceiling: 30_000, Ratio: 0.5, Reach: ">= 0.65", Rounds: []bench.Round{{Hub: 14_000, Ceiling: 28_000}, {Hub: 16_500, Ceiling: 30_000}}},
			{Figure: "idle hub, memory", Unit: "MB", Hub: 15.13, Reach: "<= 40 MB", Pass: true, Notes: []string{"a note"}},
		}},
		Peers:  &Proof{Name: "The hub and others", Command: "go run ./stress peers", Took: time.Minute, Says: []string{"the hub", "Redis"}},
		Proofs: []Proof{{Name: "Nothing is lost", Command: "go run ./stress kill -cycles 3", Took: 65 * time.Second, Says: []string{"3 kills survived"}}},
	}
}

// TestPageSaysWhatWasMeasured: medians, spreads, bars and what falls short.
func TestPageSaysWhatWasMeasured(t *testing.T) {
	page := string(sample().page())
	for _, want := range []string{
		"Measured on 26 November 2026 in 32m0s, on 2 processors (A \\| B), 7.5 GiB of memory, Linux 6.1, stores on ext4.",
		"| posts <64> & more | 15,000 /s | 14,000–16,500 | 30,000 /s | 0.50 | 0.50–0.55 | ≥ 0.65 | short |",
		"| idle hub, memory | 15.1 MB | ≤ 40 MB |  |",
		"- idle hub, memory: a note",
		"## Beside other servers",
		"**The hub and others**, `go run ./stress peers`, 1m0s:\n\n```text\nthe hub\nRedis\n```\n",
		"**Nothing is lost**, `go run ./stress kill -cycles 3`, 1m5s:\n\n```text\n3 kills survived\n```\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// TestLaterResultsReplace: a run of some figures leaves the others.
func TestLaterResultsReplace(t *testing.T) {
	d, later := sample(), sample()
	later.Bench.Results = []bench.Result{{Figure: "idle hub, memory", Hub: 12}, {Figure: "a new one", Hub: 3}}
	later.Peers = &Proof{Says: []string{"all anew"}}
	later.Proofs = []Proof{{Name: "Nothing is lost", Says: []string{"9 kills survived"}}}
	d.replace(later)
	if r := d.Bench.Results; len(r) != 3 || r[0].Hub != 15_000 || r[1].Hub != 12 || r[2].Hub != 3 {
		t.Errorf("the results are %+v", r)
	}
	if d.Peers.Says[0] != "all anew" {
		t.Errorf("the comparison is %+v", d.Peers)
	}
	if len(d.Proofs) != 1 || d.Proofs[0].Says[0] != "9 kills survived" || d.Took != 64*time.Minute {
		t.Errorf("the proofs are %+v, in %v", d.Proofs, d.Took)
	}
}

// TestPlotShowsEachRound: the plot is XML, with a dot for each round and a bar where there is one.
func TestPlotShowsEachRound(t *testing.T) {
	plot := sample().plot()
	for part, want := range map[string]int{"<circle": 2, `class="median"`: 1, `<path class="bar"`: 1, "posts &lt;64&gt; &amp; more</text>": 0, "posts &lt;64&gt; &amp; more<title>": 1} {
		if got := bytes.Count(plot, []byte(part)); got != want {
			t.Errorf("%d times %s, want %d", got, part, want)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(plot)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPageIsOfItsData: the page and the plot in the docs are those that the data beside them give.
func TestPageIsOfItsData(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	d, err := read(docs)
	require.NoError(t, err)
	files, err := d.files()
	require.NoError(t, err)
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what its data give (%v); write it anew with go run ./stress figures -again", name, err)
		}
	}
}
