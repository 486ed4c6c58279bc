package machine

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
)

// PrintVersion prints which program this is: its version, which ends with its commit where
// the build knows it, and which stores it understands. If there is a store in the data
// root, a further line says what that store needs, or why this program does not open it. It changes nothing.
func PrintVersion(env *term.Env) error {
	var b strings.Builder
	fmt.Fprintf(&b, "hubcli %s\n", env.Version)
	if env.Built != "" {
		fmt.Fprintf(&b, "built: %s\n", env.Built)
	}
	if env.StoreFormat != nil {
		fmt.Fprintf(&b, "stores: up to format %d\n", env.StoreFormat())
	}
	if root, err := env.DataRoot(); err == nil && env.InspectStore != nil {
		dir := filepath.Join(root, opt.AppStore)
		switch info, err := env.InspectStore(dir); {
		case err == nil && info.Format > 0:
			fmt.Fprintf(&b, "store %s: needs format %d\n", dir, info.Format)
		case err != nil && !errors.Is(err, daemon.ErrNoStore):
			fmt.Fprintf(&b, "store %s: %v\n", dir, err)
		}
	}
	_, err := env.Stdout.Write([]byte(b.String()))
	return err
}
