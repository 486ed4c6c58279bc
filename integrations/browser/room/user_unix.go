//go:build unix

package room

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"hubcli/hub"
)

// unprivileged is as whom an engine runs if the hub runs as root: engines refuse root with
// their sandbox, and a page has no business with it.
const unprivileged = "nobody"

// runAs returns as whom to run an engine; nil: as the hub.
func runAs(e *hub.BrowserEngine) (*[2]uint32, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	ids, err := lookUp(unprivileged)
	if err != nil {
		return nil, hub.NewError(hub.CodeBrowserFailed, "the hub runs as root, and there is no user "+unprivileged+" to run the browser engine").
			WithFix("the operator runs the hub as another user than root")
	}
	if closed := closedTo(e.Path); closed != "" {
		return nil, hub.Errorf(hub.CodeBrowserFailed, "the hub runs as root and starts the browser engine as %s, who may not enter %s", unprivileged, closed).
			With("engine", e.Path).
			WithFix("the operator installs the engine where others may run it, such as a package of the system, or runs the hub as another user than root")
	}
	return ids, nil
}

func lookUp(name string) (*[2]uint32, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &[2]uint32{uint32(uid), uint32(gid)}, nil
}

// closedTo returns what on the way to a file is closed to users who own nothing; empty:
// nothing is.
func closedTo(path string) string {
	const enter = 0o001
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for at := path; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.Mode().Perm()&enter == 0 {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
