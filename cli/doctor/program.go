package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"hubcli/internal/identity"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

// askTime is how long another executable may take to say its version.
const askTime = 5 * time.Second

// program says which executable this is.
func (x *exam) program(context.Context) {
	self, err := x.self()
	if err != nil {
		x.warn("program", fmt.Sprintf("hubcli %s does not know where its executable is: %v", x.Version, err),
			"start it with its whole path")
		return
	}
	x.ok("program", fmt.Sprintf("hubcli %s at %s", x.Version, self))
}

// self returns the executable with links followed.
func (x *exam) self() (string, error) {
	path, err := x.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil
}

// cache says why this program runs from memory.
func (x *exam) cache(context.Context) {
	if x.LostCache == nil {
		return
	}
	folder, lost := x.LostCache()
	if !lost {
		return
	}
	why, fix := whyLost(folder)
	x.warn("cache", "this program runs from memory, which costs time at each start: "+why, fix)
}

// whyLost says why a folder of the cache cannot hold the program, and the way out.
func whyLost(folder string) (why, fix string) {
	if folder == "" {
		return "there is no folder for it", "set HOME, or XDG_CACHE_HOME to a folder that you may write to"
	}
	const move = "or set XDG_CACHE_HOME to another folder of yours"
	at := folder
	for ; ; at = filepath.Dir(at) { // the folder, or the nearest one above it
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
	}
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		return at + " is no folder", "remove that file, " + move
	}
	for _, dir := range []string{filepath.Dir(folder), folder} {
		var d *identity.Distrust
		if errors.As(identity.Trust(dir, identity.Written), &d) {
			return d.Why, "make it a folder of yours that nobody else may write to: chmod 700 " + peertext.Shell(dir) + ", " + move
		}
	}
	if err := osfile.Writable(at); err != nil {
		return "you may not write to " + at, "give yourself that right, " + move
	}
	if free, err := osfile.Free(at); err == nil && free < roomForProgram {
		return fmt.Sprintf("the disk of %s has %d MiB free", at, free>>20), "make room there, " + move
	}
	return "the system runs no program in " + at, "mount its disk without noexec, " + move
}

// roomForProgram is what an unpacked program needs, in bytes.
const roomForProgram = 64 << 20

// path looks for other executables of the name. Harnesses start the first one.
func (x *exam) path(ctx context.Context) {
	self, err := x.self()
	if err != nil {
		return
	}
	others := x.inPath()
	if len(others) == 0 {
		x.warn("path", "no hubcli is in the PATH", "add "+filepath.Dir(self)+" to the PATH, so that you and your scripts find it")
		return
	}
	bad := false
	for i, other := range others {
		if sameFile(self, other) {
			continue
		}
		version := versionOf(ctx, other)
		switch {
		case version == "":
			bad = true
			x.warn("path", other+" does not say its version", "see what that file is, and remove it if it is an old hubcli")
		case version != x.Version && i == 0:
			bad = true
			x.warn("path", fmt.Sprintf("the first hubcli in the PATH is %s with version %s, and this one is %s", other, version, x.Version),
				"replace or remove "+other+", or put "+filepath.Dir(self)+" before it in the PATH")
		case version != x.Version:
			bad = true
			x.warn("path", fmt.Sprintf("another hubcli in the PATH is %s with version %s, and this one is %s", other, version, x.Version),
				"replace or remove "+other)
		}
	}
	if !bad {
		x.ok("path", "every hubcli in the PATH has this version; the first one is "+others[0])
	}
}

// inPath lists the executables named hubcli in the PATH, each once, in the order
// of the PATH.
func (x *exam) inPath() (found []string) {
	name := "hubcli"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(x.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		seen := false
		for _, other := range found {
			seen = seen || sameFile(other, path)
		}
		if !seen {
			found = append(found, path)
		}
	}
	return found
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// longestVersion bounds what an executable says of itself, in bytes.
const longestVersion = 16 << 10

// versionOf asks an executable for its version; "" if it does not say one.
func versionOf(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if cmd.Run() != nil || out.Len() > longestVersion {
		return ""
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	words := strings.Fields(first)
	if len(words) == 0 || words[0] != "hubcli" {
		return ""
	}
	return words[len(words)-1]
}
