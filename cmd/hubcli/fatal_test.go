package main

import (
	"errors"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4/y"

	"hubcli/cli/term"
)

// fatalChild tells the process that is to end that it is the one.
const fatalChild = "HUBCLI_TEST_FATAL"

// TestDatabaseDoesNotEndTheProcessSilently: Badger's assertions exit by log.Fatal. The reason is
// told then, with a way out and the exit code of the store; other lines are left out. The
// process that ends is another one.
func TestDatabaseDoesNotEndTheProcessSilently(t *testing.T) {
	if os.Getenv(fatalChild) != "" {
		log.SetOutput(standardLog{os.Stderr, os.Exit})
		log.Print("an odd server")
		y.AssertTruef(false, "table %d is impossible", 7)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), fatalChild+"=1")
	var said strings.Builder
	cmd.Stderr = &said
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitStore {
		t.Errorf("it ended with %v, want exit code %d", err, term.ExitStore)
	}
	if s := said.String(); !strings.Contains(s, "table 7 is impossible") || !strings.Contains(s, "\nfix: ") || strings.Contains(s, "odd server") {
		t.Errorf("it says %q", s)
	}
}
