package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// fuzz runs every fuzz target for FUZZTIME. go test fuzzes one target of one
// package at a time, so they are listed first.
func fuzz(ctx context.Context) error {
	duration := os.Getenv("FUZZTIME")
	if duration == "" {
		duration = "20s"
	}
	out, err := exec.CommandContext(ctx, "go", "list", "./...").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	var failed []string
	for pkg := range strings.FieldsSeq(string(out)) {
		list, err := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", pkg).Output()
		if err != nil {
			return fmt.Errorf("go test -list in %s: %w", pkg, err)
		}
		for line := range strings.Lines(string(list)) {
			target := strings.TrimSpace(line)
			if !strings.HasPrefix(target, "Fuzz") {
				continue
			}
			fmt.Fprintf(writer(ctx), "%s %s\n", pkg, target)
			err := command(ctx, nil, "go", "test", "-run=^$", "-fuzz=^"+target+"$", "-fuzztime="+duration, pkg)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failed = append(failed, target)
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}
