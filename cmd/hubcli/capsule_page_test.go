package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hubcli/internal/require"
)

var scriptOfUse = regexp.MustCompile("Script: `(capsule_[a-z]+\\.txt)`")

// The commands with which docs/capsule.md shows what capsules are for stand in the scripts that
// it names, in the same order.
func TestUsesOfCapsulesRunAsTheyStand(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "capsule.md"))
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "\n## What people use capsules for\n")
	text, _, _ = strings.Cut(text, "\n## ")
	uses := strings.Split(text, "\n### ")[1:]
	if len(uses) != 4 {
		t.Fatalf("the page shows %d uses", len(uses))
	}
	for _, use := range uses {
		title, _, _ := strings.Cut(use, "\n")
		named := scriptOfUse.FindStringSubmatch(use)
		if named == nil {
			t.Errorf("%s: no script is named", title)
			continue
		}
		script, err := os.ReadFile(filepath.Join("testdata", "script", named[1]))
		require.NoError(t, err)
		rest, commands := string(script), 0
		for i, block := range strings.Split(use, "```") {
			if i%2 == 0 {
				continue
			}
			for command := range strings.Lines(strings.TrimPrefix(block, "sh\n")) {
				command = strings.TrimSpace(command)
				at := strings.Index(rest, command)
				if at < 0 {
					t.Errorf("%s: %s does not run %q there", title, named[1], command)
					continue
				}
				rest = rest[at+len(command):]
				commands++
			}
		}
		if commands < 3 {
			t.Errorf("%s: only %d commands", title, commands)
		}
	}
}
