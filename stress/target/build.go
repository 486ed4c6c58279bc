package target

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"hubcli/internal/packer"
)

// Executable is a built hub.
type Executable struct {
	Path     string
	Profiled bool // it offers profiles where profileEnv says
	// Clock is by how much the wall clock is off, of a hub that BuildClock has
	// built; else nil.
	Clock *time.Duration
	// Log gets what the hub writes to standard error, with a line for each call that
	// changes something. Without it the hub logs warnings and errors only.
	Log io.Writer
	// Under is a program with its arguments that starts the hub in its own place, such
	// as strace -D.
	Under []string
	// Alive says that a hub is ready as soon as it answers: it is on a disk that may be
	// full, where it only reads.
	Alive bool
}

// Build builds the hub's whole program into dir: the delivered file becomes it to serve.
func Build(ctx context.Context, dir string) (Executable, error) {
	return build(ctx, dir)
}

// BuildDelivered builds the file that is delivered, with its short commands, into dir.
func BuildDelivered(ctx context.Context, dir string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	path := filepath.Join(dir, "hubcli")
	err = packer.Build(ctx, packer.Options{Root: root, Platform: runtime.GOOS + "/" + runtime.GOARCH, Out: path})
	return Executable{Path: path}, err
}

// BuildProfiled builds the hub with the runtime's profiles added. The delivered
// executable has none: they would show the memory of a hub to every process
// that can reach its port.
func BuildProfiled(ctx context.Context, dir string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	exe, err := buildWith(ctx, dir, filepath.Join(root, "cmd", "hubcli", "profile_of_this_build.go"), profileSource)
	exe.Profiled = true
	return exe, err
}

// smallSizes turn the sizes of the database's background work into ones a
// sixteenth as large. Fewer would do the same, but slower.
var smallSizes = []struct{ from, to string }{
	{"MemTableSize = 4 << 20", "MemTableSize = 128 << 10"},
	{"BaseTableSize = 1 << 20", "BaseTableSize = 32 << 10"},
}

// BuildSmallTables builds the hub with small memtables and tables. Nothing of the
// delivered executable can ask for them.
func BuildSmallTables(ctx context.Context, dir string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	name := filepath.Join(root, "persistence", "codec", "sizes.go")
	b, err := os.ReadFile(name)
	if err != nil {
		return Executable{}, err
	}
	source := string(b)
	for _, s := range smallSizes {
		if strings.Count(source, s.from) != 1 {
			return Executable{}, fmt.Errorf("%s does not hold %q once", name, s.from)
		}
		source = strings.Replace(source, s.from, s.to, 1)
	}
	return buildWith(ctx, dir, name, source)
}

// BuildUnsynced builds a hub whose database does not sync its writes. Only the control of
// a proof may run it: it loses what it has acknowledged when the power fails.
func BuildUnsynced(ctx context.Context, dir string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	name := filepath.Join(root, "persistence", "badger.go")
	b, err := os.ReadFile(name)
	if err != nil {
		return Executable{}, err
	}
	const synced = "WithSyncWrites(true)"
	if bytes.Count(b, []byte(synced)) != 1 {
		return Executable{}, fmt.Errorf("%s does not hold %q once", name, synced)
	}
	apart := filepath.Join(dir, "unsynced")
	if err := os.Mkdir(apart, 0o700); err != nil {
		return Executable{}, err
	}
	return buildWith(ctx, apart, name, strings.Replace(string(b), synced, "WithSyncWrites(false)", 1))
}

// buildWith builds the hub with a file of its source added or replaced, for this
// build alone.
func buildWith(ctx context.Context, dir, name, source string) (Executable, error) {
	return buildOver(ctx, dir, map[string]string{name: source})
}

// buildOver builds the hub with files of its source, or of the standard library,
// added or replaced, for this build alone. What an overlay in GOFLAGS replaces
// besides stays replaced: the test of a planted mistake builds a hub with it.
func buildOver(ctx context.Context, dir string, sources map[string]string) (Executable, error) {
	overlay, err := givenOverlay()
	if err != nil {
		return Executable{}, err
	}
	for name, source := range sources {
		instead := filepath.Join(dir, fmt.Sprintf("instead-%d.go", len(overlay.Replace)))
		if err := os.WriteFile(instead, []byte(source), 0o600); err != nil {
			return Executable{}, err
		}
		overlay.Replace[name] = instead
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return Executable{}, err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, b, 0o600); err != nil {
		return Executable{}, err
	}
	return build(ctx, dir, "-overlay", overlayFile)
}

// overlay is what the go command reads from the file of -overlay.
type overlay struct{ Replace map[string]string }

// givenOverlay returns the overlay that GOFLAGS names, or an empty one. An
// overlay on the command line would take its place.
func givenOverlay() (*overlay, error) {
	o := &overlay{Replace: map[string]string{}}
	for flag := range strings.FieldsSeq(os.Getenv("GOFLAGS")) {
		name, ok := strings.CutPrefix(strings.TrimPrefix(flag, "-"), "-overlay=")
		if !ok {
			name, ok = strings.CutPrefix(flag, "-overlay=")
		}
		if !ok {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, o); err != nil {
			return nil, fmt.Errorf("the overlay %s: %w", name, err)
		}
	}
	return o, nil
}

func build(ctx context.Context, dir string, args ...string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	path := filepath.Join(dir, "hubcli")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-trimpath", "-o", path}, args...), "./cmd/hubcli")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return Executable{}, fmt.Errorf("building the hub: %w\n%s", err, out)
	}
	return Executable{Path: path}, nil
}

// ModuleRoot is the folder of go.mod, around the folder that the program runs in.
func ModuleRoot(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(mod))), nil
}
