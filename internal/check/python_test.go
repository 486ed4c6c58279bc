package main

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// junit is what pytest reports of every kind of case: passed, failed, failed in
// its fixture before and after, not collected, skipped, and failed as expected.
const junit = `<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="3" failures="2" skipped="2" tests="8">
<testcase classname="tests.test_a" name="test_passes" time="0.1"><system-out>chatter</system-out></testcase>
<testcase classname="tests.test_a" name="test_cases[1]" time="0.1" />
<testcase classname="tests.test_a" name="test_fails"><failure message="assert 1 == 2">trace</failure></testcase>
<testcase classname="tests.test_a" name="test_no_hub"><error message="failed on setup">trace</error></testcase>
<testcase classname="tests.test_a" name="test_hub_stays"><failure message="assert 1 == 2">trace</failure></testcase>
<testcase classname="tests.test_a" name="test_hub_stays"><error message="failed on teardown">trace</error></testcase>
<testcase classname="" name="tests.test_b"><error message="collection failure">trace</error></testcase>
<testcase classname="tests.test_a" name="test_skipped"><skipped type="pytest.skip" message="needs unshare">why</skipped></testcase>
<testcase classname="tests.test_a" name="test_expected"><skipped type="pytest.xfail" message="">why</skipped></testcase>
</testsuite></testsuites>`

func TestTallyCountsPytest(t *testing.T) {
	var got tally
	require.NoError(t, got.readJUnit(strings.NewReader(junit)))
	if got.passed != 2 || got.failed != 4 || got.skipped != 2 || len(got.failures) != 4 || len(got.skips) != 2 || got.skips[0] != (skip{"tests.test_a test_skipped", "needs unshare"}) || !slices.Contains(got.failures, "tests.test_a test_fails") {
		t.Errorf("tally %+v, want 2 passed, 4 failed and named, 2 skipped", got)
	}
	for _, bad := range []string{"", "<testsuites><testsuite>", "<html></html>"} {
		if err := new(tally).readJUnit(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken for a report", bad)
		}
	}
}

func TestTalliesAdd(t *testing.T) {
	total := tally{1, 2, 3, 4, []string{"a"}, []skip{{"x", "needs x"}}}
	total.add(tally{10, 20, 30, 40, []string{"b"}, []skip{{"y", ""}}})
	if want := (tally{11, 22, 33, 44, []string{"a", "b"}, []skip{{"x", "needs x"}, {"y", ""}}}); !reflect.DeepEqual(total, want) {
		t.Errorf("sum %+v, want %+v", total, want)
	}
}

// An interpreter that does not do must be refused with what to do about it.
func TestFindPythonSaysWhatIsMissing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell: the interpreters of this test are scripts")
	}
	for name, c := range map[string]struct {
		script string
		want   string // in the error; empty: none
	}{
		"good":    {`echo '{"executable":"/p","version":[3,9,0],"venv":true}'`, ""},
		"newest":  {`echo '{"executable":"/p","version":[3,14,1],"venv":true}'`, ""},
		"old":     {`echo '{"executable":"/p","version":[3,8,18],"venv":true}'`, "/p is Python 3.8.18, the client needs 3.9 or later"},
		"next":    {`echo '{"executable":"/p","version":[4,0,0],"venv":true}'`, "/p is Python 4.0.0"},
		"no venv": {`echo '{"executable":"/p","version":[3,11,2],"venv":false}'`, "apt-get install python3-venv"},
		"broken":  {"exit 3", "does not run (exit status 3)"},
		"no json": {"echo Python 2.7", "does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "python")
			require.NoError(t, os.WriteFile(exe, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700))
			t.Setenv("PYTHON", exe)
			_, err := findPython(t.Context())
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	t.Setenv("PYTHON", filepath.Join(t.TempDir(), "missing"))
	if _, err := findPython(t.Context()); err == nil || !strings.Contains(err.Error(), "apt-get install python3 python3-venv") {
		t.Errorf("a missing interpreter is told as %v", err)
	}
}

// Without a pin the tools of today's run are not those of tomorrow's.
func TestPythonToolsArePinned(t *testing.T) {
	pins, err := os.ReadFile(filepath.Join("..", "..", requirements))
	require.NoError(t, err)
	for line := range strings.Lines(string(pins)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, version, exact := strings.Cut(line, "==")
		if !exact || strings.ContainsAny(name, "<>~! ") || strings.ContainsAny(version, "*,") {
			t.Errorf("%s: %q is not pinned to one version", requirements, line)
		}
	}
}
