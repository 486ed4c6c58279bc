package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

// What others must not be able to do to what is believed.
const (
	Written fs.FileMode = 0o022 // nobody else may have written it
	Secret  fs.FileMode = 0o077 // nobody else may read it either
)

// Distrust says why what stands at a path is not believed, and the way out.
type Distrust struct{ Why, Fix string }

// Error says both in one sentence.
func (d *Distrust) Error() string { return d.Why + "; " + d.Fix }

// Trust returns nil if path is a plain file or folder of this user to which the
// permissions give nobody else anything of others. The error is *Distrust, or that
// of looking at it. Windows has no such permissions: there only the owner counts.
func Trust(path string, others fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir() && !info.Mode().IsRegular():
		return &Distrust{path + " is no plain file or folder", "move it away"}
	case !osfile.Own(path, info):
		return &Distrust{path + " belongs to another user", "move it away, or set HUB_DATA_ROOT to a folder of your own"}
	case osfile.Permissions(info)&others != 0:
		can, mode := "write to ", "600"
		if others == Secret {
			can = "read "
		}
		if info.IsDir() {
			mode = "700"
		}
		return &Distrust{
			"others can " + can + path,
			fmt.Sprintf("if you trust what is in it: chmod %s %s; else remove it, which forgets who the agent was", mode, peertext.Shell(path)),
		}
	}
	return nil
}

// trusts is Trust of what others may read. It reports what is not believed to
// tell, unless tell is nil.
func trusts(path string, tell func(error)) bool {
	err := Trust(path, Written)
	var d *Distrust
	if errors.As(err, &d) && tell != nil {
		tell(d)
	}
	return err == nil
}
