// Command release makes what users install. It needs a clean commit. It needs
// no network once the modules and the builder of the Python client are cached.
//
//	go run ./internal/release [build]      archives and packages for all target.Platforms, and SHA256SUMS, into dist
//	go run ./internal/release notices      rewrites THIRD_PARTY_NOTICES.txt from the linked modules
//	go run ./internal/release weigh        lists what takes space in the executable
//	go run ./internal/release module PATH  gives the module another path, in go.mod and in every import
//
// The same commit and the same version of Go give the same bytes: every
// timestamp is the commit's, and order, owners and modes in the archives are
// fixed. The command runs one build at a time and never publishes anything.
// docs/release.md has more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"hubcli/internal/target"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	name := "build"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	switch name {
	case "build":
		return runBuild(ctx, root, args)
	case "notices":
		return writeNotices(ctx, root)
	case "weigh":
		return weigh(ctx, root)
	case "module":
		if len(args) != 1 {
			return errors.New("usage: go run ./internal/release module <path>")
		}
		return renameModule(ctx, root, args[0])
	}
	return fmt.Errorf("there is no command %q; the commands are build, notices, weigh and module", name)
}

// runBuild takes the flags of build.
func runBuild(ctx context.Context, root string, args []string) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	out := flags.String("out", "dist", "the `folder` to write into; its release files are replaced")
	only := flags.String("platforms", strings.Join(target.Platforms, ","), "the `platforms` to build for")
	wheel := flags.Bool("wheel", true, "build the wheel of the Python client too")
	site := flags.String("site", "", "the https `address` under which users get the files; "+versionMark+" in it stands for the number")
	key := flags.String("key", "", "the public `key` of minisign with which you sign "+checksums)
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted := strings.Split(*only, ",")
	for _, p := range wanted {
		if !slices.Contains(target.Platforms, p) {
			return fmt.Errorf("there is no platform %q; the platforms are %s", p, strings.Join(target.Platforms, ", "))
		}
	}
	where, err := newPlace(*site, *key)
	if err != nil {
		return err
	}
	r, err := newRelease(ctx, root, *out)
	if err != nil {
		return err
	}
	r.place = where
	return r.build(ctx, wanted, *wheel)
}
