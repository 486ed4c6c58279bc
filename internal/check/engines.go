package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"hubcli/internal/testprogram"
)

// engineTests are the tests that open pages with a browser engine.
var engineTests = [][]string{
	{"-timeout=20m", "./integrations/browser/room"},
	{"-timeout=10m", "-run=^TestBrowserEndsWithItsHub$", "./cmd/hubcli"},
}

// engines opens pages with each browser engine of this machine that the executable lists as
// usable, and says of each other one why it is not.
func engines(ctx context.Context, total *tally) (err error) {
	dir, err := os.MkdirTemp("", "hubcli-engines-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	hubcli := filepath.Join(dir, "hubcli")
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-o", hubcli, "./cmd/hubcli"); err != nil {
		return fmt.Errorf("go build ./cmd/hubcli: %w", err)
	}
	var listed bytes.Buffer
	cmd := exec.CommandContext(ctx, hubcli, "browser", "engines", "--json")
	cmd.Stdout, cmd.Stderr = &listed, writer(ctx)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("hubcli browser engines: %w", err)
	}
	var found []struct {
		Kind, Version, Path, Reason string
		Usable                      bool
	}
	if err := json.Unmarshal(listed.Bytes(), &found); err != nil {
		return fmt.Errorf("hubcli browser engines: %w", err)
	}
	var failed error
	tried := 0
	for _, e := range found {
		if !e.Usable {
			fmt.Fprintf(writer(ctx), "NOT TRIED: %s at %s: %s\n", e.Kind, e.Path, e.Reason)
			continue
		}
		tried++
		fmt.Fprintf(writer(ctx), "%s %s at %s\n", e.Kind, e.Version, e.Path)
		for _, args := range engineTests {
			var count tally
			err := goTest(ctx, &count, []string{"CGO_ENABLED=0", "HUBCLI_BROWSER=" + e.Path}, args...)
			if err == nil && count.skipped > 0 {
				err = errors.New("it is listed as usable, and tests that need an engine were skipped")
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", e.Path, err))
			}
			total.add(count)
		}
	}
	if tried == 0 {
		total.skip("pages with each browser engine", testprogram.Missing(testprogram.Browser))
		fmt.Fprintf(writer(ctx), "SKIPPED: %s\n", testprogram.Missing(testprogram.Browser))
	}
	return failed
}
