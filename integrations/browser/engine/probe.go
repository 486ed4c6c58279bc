package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

const (
	// versionWait is the time limit of an engine that is asked for its version.
	versionWait = 3 * time.Second
	// afterExit is the time limit for the output to end after that: a process that
	// the engine has started may hold it.
	afterExit = 200 * time.Millisecond
	// mostSaid bounds what is kept of an engine's output.
	mostSaid = 8 << 10
	// leastMajor is the first version whose headless mode is that of today.
	leastMajor = 112
)

// examine says what is at a place.
func (o *Options) examine(ctx context.Context, c found) Engine {
	e := Engine{Kind: c.kind, Path: c.path, Source: c.source, Snap: isSnap(c.path)}
	if e.Kind == hub.BrowserUnknown {
		e.Kind = kindOf(c.path, "")
	}
	err := c.err
	if err == nil {
		err = o.check(&c)
	}
	if err == nil {
		err = o.ask(ctx, &e, c)
	}
	if err == nil && e.Snap {
		err = errors.New("it is a snap, which sees neither the machine's folder for temporary files nor hidden folders of the home folder")
	}
	if err != nil {
		e.Reason = err.Error()
		return e
	}
	e.Usable = true
	return e
}

// check refuses a file that is not to be started.
func (o *Options) check(c *found) error {
	info, err := os.Stat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case err != nil:
		return reasonOf(err)
	case info.IsDir():
		return errors.New("it is a folder; name the program in it")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case o.GOOS != "windows" && info.Mode()&0o111 == 0:
		return errors.New("it is not executable")
	case o.GOOS != "windows" && info.Mode()&0o002 != 0:
		return errors.New("everybody may change the file")
	}
	if o.AsNobody {
		if closed := closedTo(c.path); closed != "" {
			return fmt.Errorf("a hub of root starts it as nobody, who may not enter %s: use a package of the system, or run the hub as another user", closed)
		}
	}
	if c.pin != nil {
		return verify(o.DataRoot, c.pin)
	}
	return nil
}

// ask has the engine say its version, and takes over what that tells.
func (o *Options) ask(ctx context.Context, e *Engine, c found) error {
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	said, err := sayVersion(ctx, c.path)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it did not tell its version within %s", o.wait)
	}
	if err != nil {
		return err
	}
	version := versionIn.Get().FindString(said)
	if version == "" {
		return fmt.Errorf("it tells no version: %s", short(said))
	}
	e.Version = version
	if c.kind == hub.BrowserUnknown {
		e.Kind = kindOf(c.path, said)
	}
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastMajor {
		return fmt.Errorf("it is too old: the hub needs version %d or later", leastMajor)
	}
	return nil
}

var versionIn = lazy.Regexp{Pattern: `\b\d{1,4}(\.\d{1,6}){2,3}\b`}

// kindOf derives the kind from the name of the program and from what it says.
func kindOf(path, said string) hub.BrowserKind {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	name := strings.ToLower(filepath.Base(path) + " " + filepath.Base(real))
	for _, known := range []struct {
		in, part string
		kind     hub.BrowserKind
	}{
		{name, "headless", hub.BrowserHeadlessShell},
		{said, "Edge", hub.BrowserEdge},
		{name, "edge", hub.BrowserEdge},
		{said, "Brave", hub.BrowserBrave},
		{name, "brave", hub.BrowserBrave},
		{said, "Chromium", hub.BrowserChromium},
		{name, "chromium", hub.BrowserChromium},
		{said, "Chrome", hub.BrowserChrome},
		{name, "chrome", hub.BrowserChrome},
	} {
		if strings.Contains(known.in, known.part) {
			return known.kind
		}
	}
	return hub.BrowserUnknown
}

// isSnap reports whether a path leads to a program of a snap. Ubuntu's
// chromium-browser is a script that starts one.
func isSnap(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	slashed := filepath.ToSlash(path)
	if filepath.Base(real) == "snap" || strings.HasPrefix(slashed, "/snap/") || strings.HasPrefix(slashed, "/var/lib/snapd/snap/") {
		return true
	}
	head := headOf(real)
	return bytes.HasPrefix(head, []byte("#!")) && bytes.Contains(head, []byte("/snap/bin/"))
}

// run starts a program and returns what it wrote to both of its outputs.
func run(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	var out, complaint limited
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.WaitDelay = afterExit
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd); return nil }
	err := cmd.Run()
	endGroup(cmd) // what it has left running
	said := out.String()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return said, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return said, ctx.Err()
	case ctx.Err() != nil:
		return said, errors.New("it was not asked for its version: interrupted")
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return said, fmt.Errorf("it does not start: %w", reasonOf(err))
	}
	return said, fmt.Errorf("it does not start: %s", short(cmp.Or(complaint.String(), exit.String())))
}

// closedTo returns the first thing on the way to a file, from the top, that is closed to users
// who own nothing; empty: nothing is.
func closedTo(path string) (closed string) {
	const enter = 0o001
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for at := path; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.Mode().Perm()&enter == 0 {
			closed = at
		}
		if at == filepath.Dir(at) {
			return closed
		}
	}
}

// reasonOf strips a path from an error: the reader sees it beside.
func reasonOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// short returns the first line of a text that says something, cut.
func short(text string) string {
	const most = 200
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if r := []rune(line); len(r) > most {
				line = string(r[:most]) + "…"
			}
			return line
		}
	}
	return "it says nothing"
}

// limited is a buffer that keeps the first bytes and drops the others.
type limited struct{ bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if room := mostSaid - l.Len(); room > 0 {
		l.Buffer.Write(b[:min(len(b), room)])
	}
	return len(b), nil
}
