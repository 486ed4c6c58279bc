package spawn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"hubcli/hub"
)

// Runner starts processes. Keeper is required.
type Runner struct {
	// Keeper is the command that calls Keep: an executable and its arguments.
	Keeper []string
	// Environ returns the hub's environment; nil: os.Environ.
	Environ func() []string
	// Grace is the time between the request to end a group and its kill. 0:
	// hub.SpawnGrace.
	Grace time.Duration
}

func (r *Runner) grace() time.Duration {
	if r.Grace == 0 {
		return hub.SpawnGrace
	}
	return r.Grace
}

// Check returns an error if the executable or the folder of a plan does not
// exist. Errors: bad_executable.
func (r *Runner) Check(plan *hub.SpawnPlan) error {
	exe := plan.Args[0]
	info, err := os.Stat(exe)
	switch {
	case err != nil:
		return badExecutable(exe, "cannot be used: "+cause(err))
	case !info.Mode().IsRegular():
		return badExecutable(exe, "is no file")
	case runtime.GOOS == "windows" && isBatch(exe):
		return badExecutable(exe, "is a batch file, and what an agent asks for cannot be handed to one safely")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return badExecutable(exe, "may not be executed")
	}
	info, err = os.Stat(plan.Dir)
	switch {
	case err != nil:
		return badExecutable(exe, "cannot run in "+plan.Dir+": "+cause(err))
	case !info.IsDir():
		return badExecutable(exe, "cannot run in "+plan.Dir+", which is no folder")
	}
	return nil
}

// isBatch reports whether the command interpreter would run the file: it reads its
// arguments by rules that no quoting is safe from.
func isBatch(exe string) bool {
	ext := strings.ToLower(filepath.Ext(exe))
	return ext == ".bat" || ext == ".cmd"
}

func badExecutable(exe, why string) error {
	return hub.NewError(hub.CodeBadExecutable, "the operator's command "+exe+" "+why).With("executable", exe).
		WithFix("the operator sets args and dir of the command in the spawn policy; command -v finds the absolute path of a program")
}

// cause returns the reason of an error without the path.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
