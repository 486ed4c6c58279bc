package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

// Engine is one engine that was found.
type Engine = hub.BrowserEngine

// EnvBrowser names the variable with the engine that the operator wants: a path or
// a name to look up in PATH.
const EnvBrowser = "HUBCLI_BROWSER"

// Where engines come from, beside the names of variables.
const (
	SourceManaged    = "managed" // hubcli browser install
	SourceSystem     = "system"
	SourcePrerelease = "prerelease" // beta, dev and canary channels
	SourcePlaywright = "playwright"
	SourcePuppeteer  = "puppeteer"
)

// Options say where to look. Getenv is required.
type Options struct {
	// DataRoot holds the managed engine; empty: there is none.
	DataRoot string
	Getenv   func(string) string
	// GOOS and GOARCH are of this process if they are empty.
	GOOS, GOARCH string
	// Pins are the embedded ones if they are nil.
	Pins *Pins
	// AsNobody says that engines are started as a user who owns nothing: a hub that runs as
	// root does so.
	AsNobody bool

	// top is a folder in place of the file system's, wait replaces versionWait; tests set
	// them.
	top  string
	wait time.Duration
}

func (o *Options) settle() {
	if o.GOOS == "" {
		o.GOOS, o.GOARCH = runtime.GOOS, runtime.GOARCH
	}
	if o.Pins == nil {
		o.Pins = Embedded()
	}
	if o.wait == 0 {
		o.wait = versionWait
	}
}

// found is a file that may be an engine.
type found struct {
	place
	path string // absolute
	pin  *Pin   // of a managed engine
	err  error  // why it cannot be one
}

// atOnce is how many engines are asked for their version at a time.
const atOnce = 4

// Discover returns the engines of this machine. The first one that is usable is the
// one to take; see Choose. It takes no longer than versionWait for every atOnce
// engines. After ctx has ended, engines that were not asked are not usable.
func Discover(ctx context.Context, o Options) []Engine {
	o.settle()
	candidates := o.candidates()
	engines := make([]Engine, len(candidates))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, c := range candidates {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			engines[i] = o.examine(ctx, c)
			engines[i].Preference = i + 1
		})
	}
	wg.Wait()
	return engines
}

// Choose returns the engine to use. If the operator has named one, no other is
// used.
func Choose(engines []Engine) (Engine, error) {
	for _, e := range engines {
		if e.Usable {
			return e, nil
		}
		if e.Source == EnvBrowser {
			return Engine{}, hub.Errorf(hub.CodeBrowserMissing, "the browser engine that %s names cannot be used: %s: %s", EnvBrowser, e.Path, e.Reason).
				WithFix("correct " + EnvBrowser + " in the environment of the hub, or unset it and let the hub choose")
		}
	}
	why := "none was found"
	if len(engines) > 0 {
		why = "the best one, " + engines[0].Path + ", cannot be used: " + engines[0].Reason
	}
	return Engine{}, hub.NewError(hub.CodeBrowserMissing, "there is no usable browser engine: "+why)
}

// candidates returns the files to examine, in the order of preference, each once.
func (o *Options) candidates() []found {
	var all []found
	seen := map[string]bool{}
	for _, p := range o.places() {
		for _, f := range o.find(p) {
			key := o.identity(f.path)
			if !seen[key] && !starts(key, seen) {
				seen[key] = true
				all = append(all, f)
			}
		}
	}
	return all
}

// starts reports whether a file is a script that starts an engine that was seen: it names
// the engine, or lies beside it. Packages have such scripts.
func starts(path string, seen map[string]bool) bool {
	head := headOf(path)
	if !bytes.HasPrefix(head, []byte("#!")) {
		return false
	}
	head = filled(head)
	for engine := range seen {
		if bytes.Contains(head, []byte(engine+" ")) || filepath.Dir(engine) == filepath.Dir(path) && !bytes.HasPrefix(headOf(engine), []byte("#!")) {
			return true
		}
	}
	return false
}

// assigned is a line of a script that gives a variable a plain value.
var assigned = lazy.Regexp{Pattern: `(?m)^([A-Z_]{1,40})=([^\s"'` + "`" + `;|&()]{1,200})$`}

// filled puts the values of a script's variables where it uses them.
func filled(script []byte) []byte {
	var pairs []string
	for _, line := range assigned.Get().FindAllSubmatch(script, 50) {
		value := strings.NewReplacer(pairs...).Replace(string(line[2])) // what stands above it
		pairs = append(pairs, "$"+string(line[1]), value, "${"+string(line[1])+"}", value)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(script)))
}

// mostScript is as much of a script as is looked at. Debian's is 5 KiB long and starts the
// engine at its end.
const mostScript = 16 << 10

// headOf returns the first bytes of a file; none if it cannot be read.
func headOf(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, mostScript)
	n, _ := f.Read(head) // an error leaves nothing to look at
	return head[:n]
}

// find returns what is at a place. What a variable names is returned even if it is
// not there, because somebody wants to know why it is not used.
func (o *Options) find(p place) []found {
	switch {
	case p.variable != "":
		return o.named(p)
	case p.name != "":
		if path, ok := o.lookPath(p.name); ok {
			return []found{{place: p, path: path}}
		}
	case p.glob != "":
		return o.cached(p)
	default:
		path := o.in(p.path)
		if info, err := os.Stat(path); err == nil && !info.IsDir() || p.pin != nil && !errors.Is(err, os.ErrNotExist) {
			return []found{{place: p, path: path, pin: p.pin}}
		}
	}
	return nil
}

// in returns a path below the top folder of tests.
func (o *Options) in(path string) string {
	if o.top == "" {
		return path
	}
	return filepath.Join(o.top, path)
}

// named returns the engine that a variable names.
func (o *Options) named(p place) []found {
	value := o.Getenv(p.variable)
	if value == "" {
		return nil
	}
	f := found{place: p, path: value}
	if !strings.ContainsAny(value, `/\`) {
		path, ok := o.lookPath(value)
		if !ok {
			f.err = errors.New("no folder of PATH has it")
			return []found{f}
		}
		f.path = path
	}
	if !filepath.IsAbs(f.path) {
		f.err = errors.New("the path is not absolute")
	}
	return []found{f}
}

// lookPath finds a program in the absolute folders of PATH.
func (o *Options) lookPath(name string) (string, bool) {
	if o.GOOS == "windows" && !strings.HasSuffix(strings.ToLower(name), ".exe") {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(o.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // a program of the current folder is nobody's choice
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && (o.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path, true
		}
	}
	return "", false
}

// identity is the same for two paths that lead to one engine.
func (o *Options) identity(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	if filepath.Base(real) == "snap" {
		return path // every program of a snap is a link to the same starter
	}
	if o.GOOS == "windows" || o.GOOS == "darwin" {
		return strings.ToLower(real)
	}
	return real
}
