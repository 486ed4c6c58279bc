package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hubcli/cli"
	"hubcli/hub"
)

// TestDamagedRecordHasAWayOut: a start that meets a damaged record, after the store was
// opened, says what to do, as a start that refuses the store does.
func TestDamagedRecordHasAWayOut(t *testing.T) {
	err := storeFailure(fmt.Errorf("replay: %w", hub.NewError(hub.CodeCorruptRecord, "record 7 fails its checks")))
	var f *cli.Failure
	if !errors.As(err, &f) || f.Exit != cli.ExitStore || !strings.Contains(f.Sentence, "record 7") || !strings.Contains(f.Fix, "--salvage") {
		t.Errorf("%+v", err)
	}
}
