//go:build unix

package room

import (
	"os"
	"os/user"
	"strconv"

	"hubcli/hub"
)

// unprivileged is as whom an engine runs if the hub runs as root: engines refuse root with
// their sandbox, and a page has no business with it.
const unprivileged = "nobody"

// runAs returns as whom to run engines; nil: as the hub.
func runAs() (*[2]uint32, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	ids, err := lookUp(unprivileged)
	if err != nil {
		return nil, hub.NewError(hub.CodeBrowserFailed, "the hub runs as root, and there is no user "+unprivileged+" to run the browser engine").
			WithFix("the operator runs the hub as another user than root")
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
