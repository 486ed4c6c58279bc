package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"hubcli/cli/term"
	"hubcli/hub"
)

// TestDamagedRecordHasAWayOut: a start that meets a damaged record, after the store was
// opened, says what to do, as a start that refuses the store does.
func TestDamagedRecordHasAWayOut(t *testing.T) {
	err := storeFailure(fmt.Errorf("replay: %w", hub.NewError(hub.CodeCorruptRecord, "record 7 fails its checks")))
	var f *term.Failure
	if !errors.As(err, &f) || f.Exit != term.ExitStore || !strings.Contains(f.Sentence, "record 7") || !strings.Contains(f.Fix, "--salvage") {
		t.Errorf("%+v", err)
	}
}

// TestFailedStoreIsToldOfOnce: a hub whose disk has failed says so in one sentence, with the
// way out, although several of its parts could not be ended because of it.
func TestFailedStoreIsToldOfOnce(t *testing.T) {
	failed := hub.NewError(hub.CodeStoreFailed, "the store failed (input/output error)").WithFix("check the disk")
	err := storeFailure(errors.Join(failed, fmt.Errorf("stopping: %w", failed), errors.New("the database does not close")))
	var f *term.Failure
	if !errors.As(err, &f) || f.Exit != term.ExitStore || f.Sentence != failed.Message || f.Fix != "check the disk" {
		t.Errorf("%+v", err)
	}
}

// TestRefusingSystemHasAWayOut: what the system refuses at a start is told with a way out.
func TestRefusingSystemHasAWayOut(t *testing.T) {
	err := storeFailure(errors.Join(errors.New("one"), &os.PathError{Op: "open", Path: "x", Err: syscall.EROFS}))
	var f *term.Failure
	if !errors.As(err, &f) || f.Exit != term.ExitStore || strings.Contains(f.Sentence, "\n") || !strings.Contains(f.Fix, "check the disk") {
		t.Errorf("%+v", err)
	}
}
