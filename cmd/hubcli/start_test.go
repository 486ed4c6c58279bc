package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"hubcli/internal/require"
)

// What all packages of the process may allocate together before main runs. Each hook, each
// single command and each bridge pays for it.
const (
	mostStartAllocations = 3_000
	mostStartBytes       = 300_000
)

// packageStart is a line of the runtime's trace.
var packageStart = regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)

// TestStartIsCheap: no package makes automata, expressions, metrics or schemas before they are
// used. The counts do not depend on how busy the machine is.
func TestStartIsCheap(t *testing.T) {
	exe, err := exec.LookPath("hubcli")
	require.NoError(t, err)
	cmd := exec.Command(exe, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	require.NoError(t, cmd.Run())

	type start struct {
		name               string
		bytes, allocations int
	}
	var all []start
	sum := start{name: "all"}
	for _, m := range packageStart.FindAllStringSubmatch(trace.String(), -1) {
		s := start{name: m[1]}
		s.bytes, err = strconv.Atoi(m[2])
		require.NoError(t, err)
		s.allocations, err = strconv.Atoi(m[3])
		require.NoError(t, err)
		all = append(all, s)
		sum.bytes, sum.allocations = sum.bytes+s.bytes, sum.allocations+s.allocations
	}
	if len(all) < 50 {
		t.Fatalf("the trace names %d packages:\n%s", len(all), &trace)
	}
	if sum.allocations > mostStartAllocations || sum.bytes > mostStartBytes {
		slices.SortFunc(all, func(a, b start) int { return cmp.Compare(b.bytes, a.bytes) })
		t.Errorf("a start makes %d allocations of %d bytes, at most %d of %d are allowed; the largest: %+v",
			sum.allocations, sum.bytes, mostStartAllocations, mostStartBytes, all[:10])
	}
}
