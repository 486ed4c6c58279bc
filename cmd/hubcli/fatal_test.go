package main

import (
	"bytes"
	"log"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4/y"

	"hubcli/cli"
)

// TestDatabaseDoesNotEndTheProcessSilently: Badger's assertions exit by log.Fatal. The reason is
// told then, with a way out and the exit code of the store; other lines are left out.
func TestDatabaseDoesNotEndTheProcessSilently(t *testing.T) {
	type ended struct{ code int }
	var told bytes.Buffer
	log.SetOutput(standardLog{&told, func(code int) { panic(ended{code}) }})
	log.Print("an odd server")
	if told.Len() > 0 {
		t.Errorf("a remark is told: %s", &told)
	}
	defer func() {
		if e, ok := recover().(ended); !ok || e.code != cli.ExitStore {
			t.Errorf("it ended with %v, want exit code %d", e, cli.ExitStore)
		}
		if s := told.String(); !strings.Contains(s, "table 7 is impossible") || !strings.Contains(s, "\nfix: ") {
			t.Errorf("the reason is not told: %s", s)
		}
	}()
	y.AssertTruef(false, "table %d is impossible", 7)
}
