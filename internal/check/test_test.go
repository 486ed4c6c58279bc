package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// testReport is what go test -json tells of three packages: one with a passed, a
// failed and a skipped test, one that does not build, and one whose TestMain
// fails after its tests have passed.
const testReport = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter of a passed test\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: wrong\n      and more\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    needs strace\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.010s\n"}
{"Action":"fail","Package":"p"}
{"Action":"build-output","ImportPath":"q","Output":"q.go: undefined: x\n"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
{"Action":"pass","Package":"r","Test":"TestD/sub"}
{"Action":"pass","Package":"r","Test":"TestD"}
{"Action":"output","Package":"r","Output":"goroutine leak\n"}
{"Action":"fail","Package":"r"}
go: not a line of the report
{"Action":"skip","Package":"s"}
`

func TestTallyCountsWhatRan(t *testing.T) {
	var got tally
	var out strings.Builder
	require.NoError(t, got.read(strings.NewReader(testReport), &out))
	if want := (tally{passed: 3, failed: 1, skipped: 1, broken: 2, failures: []string{"p TestB\n    b_test.go:7: wrong", "q", "r"}, skips: []skip{{"p TestC", "    needs strace\n"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("tally %+v, want %+v", got, want)
	}
	if want := "3 passed, 1 failed, 1 skipped, 2 packages failed outside a test\n  failed: p TestB\n    b_test.go:7: wrong\n  failed: q\n  failed: r"; got.String() != want {
		t.Errorf("last line %q, want %q", got, want)
	}
	for _, want := range []string{
		"b_test.go:7: wrong", "needs strace", "FAIL\tp\t0.010s", "undefined: x", "goroutine leak", "go: not a line",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not show %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "chatter") {
		t.Errorf("the output shows what a passed test wrote:\n%s", &out)
	}
}

// TestKeptOutTestsAreTaken: the tests that the race detector keeps out are run again, and are not counted twice.
func TestKeptOutTestsAreTaken(t *testing.T) {
	got := tally{passed: 1, skipped: 2, skips: []skip{{"p TestA", "a_test.go:1: " + testrace.Without + "it measures memory"}, {"p TestB", "needs strace"}}}
	kept := got.takeKeptOut()
	if want := (tally{passed: 1, skipped: 1, skips: []skip{{"p TestB", "needs strace"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("tally %+v, want %+v", got, want)
	}
	if want := []string{"p TestA"}; !slices.Equal(kept, want) {
		t.Errorf("kept out %q, want %q", kept, want)
	}
}

// TestPackagesWithGoroutinesAreRaced: the race detector sees each package that has goroutines, whatever part
// is chosen, each other package in one part, and no package is left out.
func TestPackagesWithGoroutinesAreRaced(t *testing.T) {
	t.Chdir("../..")
	all, none, err := racedPackages(t.Context(), "0/1")
	require.NoError(t, err)
	if len(none) > 0 || len(all) < 80 {
		t.Fatalf("%d packages are raced and %q are not", len(all), none)
	}
	times := map[string]int{}
	for _, part := range []string{"0/4", "1/4", "2/4", "3/4"} {
		raced, rest, err := racedPackages(t.Context(), part)
		require.NoError(t, err)
		if len(raced)+len(rest) != len(all) {
			t.Errorf("part %s: %d raced and %d plain packages of %d", part, len(raced), len(rest), len(all))
		}
		for _, name := range raced {
			times[name]++
		}
	}
	for _, name := range all {
		if times[name] != 1 && times[name] != 4 {
			t.Errorf("%s is raced in %d of 4 parts", name, times[name])
		}
	}
	for _, name := range []string{"hubcli/actors", "hubcli/actors/engine", "hubcli/persistence", "hubcli/httpapi", "hubcli/mcp/session", "hubcli/relay/forwarder"} {
		if times[name] != 4 {
			t.Errorf("%s has goroutines and is raced in %d of 4 parts", name, times[name])
		}
	}
	if _, _, err := racedPackages(t.Context(), "4/4"); err == nil {
		t.Error("part 4/4 is taken")
	}
}
