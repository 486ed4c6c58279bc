package supervisor

import (
	"context"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"hubcli/capsule/redact"
	"hubcli/capsule/transfer"
)

// newExports makes the part that plans exports of projects.
func (t *Tree) newExports() *transfer.Exports {
	return transfer.New(transfer.Options{
		Dir: t.Store.PlansDir(), Version: t.config.Version, Snapshots: t.Store,
		Project: t.Hub.Project, Room: t.Hub.Room, Space: t.Store.Room,
		Machine: t.machine, Secrets: t.Hub.EachSecret, Log: t.log,
	})
}

// newImports makes the part that plans imports of projects.
func (t *Tree) newImports() *transfer.Imports {
	return transfer.NewImports(transfer.ImportOptions{
		Import: t.Hub.ImportCapsule, Names: t.Hub.NamesForImport, Earlier: t.Hub.ImportedBefore, Log: t.log,
	})
}

// machine is what tells of this machine and its people, and the secrets that stand in no
// row. What the system does not say is left out.
func (t *Tree) machine() redact.Options {
	o := redact.Options{Literals: []string{t.Store.OperatorToken()}}
	if n, err := t.Hub.Notify(context.Background()); err == nil && len(n.Webhook) > len("https://x") {
		o.Literals = append(o.Literals, n.Webhook)
	}
	if home, err := os.UserHomeDir(); err == nil {
		o.Homes = append(o.Homes, home)
		o.Users = append(o.Users, filepath.Base(home))
	}
	if u, err := user.Current(); err == nil {
		o.Homes = append(o.Homes, u.HomeDir)
		o.Users = append(o.Users, u.Username[strings.LastIndex(u.Username, `\`)+1:])
	}
	if host, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(host, ".")
		o.Hosts = append(o.Hosts, host, short)
	}
	if all, err := net.InterfaceAddrs(); err == nil {
		for _, a := range all {
			o.Addresses = append(o.Addresses, a.String())
		}
	}
	return o
}

// Exports returns the part that plans exports of projects.
func (t *Tree) Exports() *transfer.Exports { return t.exports }
