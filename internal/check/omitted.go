package main

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

	"hubcli/internal/testfeature"
)

// omitted checks the program without any of the parts that a build may leave out: that all code fits together, and that
// its command line passes its tests. OMITTED names other packages to test, such as ./... for all.
func omitted(ctx context.Context, total *tally) error {
	var tags []string
	for _, feature := range testfeature.All() {
		tags = append(tags, testfeature.Tag(feature))
	}
	with := "-tags=" + strings.Join(tags, ",")
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "vet", with, "./..."); err != nil {
		return err
	}
	args := []string{with, "-shuffle=on", "-timeout=20m", "-p=" + strconv.Itoa(2*runtime.NumCPU())}
	packages := strings.Fields(cmp.Or(os.Getenv("OMITTED"), "./cli/... ./supervisor/..."))
	return goTest(ctx, total, []string{"CGO_ENABLED=0"}, append(args, packages...)...)
}
