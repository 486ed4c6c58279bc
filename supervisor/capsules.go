package supervisor

import (
	"context"
	"errors"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"hubcli/capsule/redact"
	"hubcli/capsule/transfer"
	"hubcli/hub"
	"hubcli/integrations/folders"
)

// newExports makes the part that plans exports of projects.
func (t *Tree) newExports() *transfer.Exports {
	return transfer.New(transfer.Options{
		Dir: t.Store.PlansDir(), Store: t.Store.Dir(), Version: t.config.Version, Snapshots: t.Store,
		Project: t.Hub.Project, Room: t.Hub.Room, Space: t.Store.Room,
		Machine: t.machine, Secrets: t.Hub.EachSecret, Log: t.log, Gone: t.storeGone,
		WorkTrees: t.workTrees, Busy: t.Hub.Busy,
	})
}

// newImports makes the part that plans imports of projects.
func (t *Tree) newImports() *transfer.Imports {
	return transfer.NewImports(transfer.ImportOptions{
		Import: t.Hub.ImportCapsule, Names: t.Hub.NamesForImport, Earlier: t.Hub.ImportedBefore, Log: t.log,
		SharedRooms: t.Hub.RoomsSharedByImport, Busy: t.Hub.Busy,
	})
}

// workTrees returns the roots of the Git work trees in which folders are bound to rooms of a
// project, one for each repository. A folder that is gone is in none.
func (t *Tree) workTrees(ctx context.Context, project hub.ProjectID) ([]string, error) {
	rooms, err := hub.All(ctx, t.Hub.Rooms, hub.RoomsQuery{Project: string(project), Archived: true, Limit: hub.MaxPageRows})
	if err != nil {
		return nil, err
	}
	var roots []string
	known := map[string]bool{}
	machine := folders.New()
	for i := range rooms {
		for _, bound := range rooms[i].Bindings {
			levels, err := machine.Chain(ctx, bound, true)
			var refused *hub.Error
			if errors.As(err, &refused) && refused.Code == hub.CodePathNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			if root, common := levels[0].Root, levels[0].Common; common != "" && !known[common] {
				known[common] = true
				roots = append(roots, root)
			}
		}
	}
	return roots, nil
}

// machine is what tells of this machine and its people, and the secrets that stand in no
// row. What the system does not say is left out.
func (t *Tree) machine() redact.Options {
	o := redact.Options{Literals: []string{t.Store.OperatorToken()}}
	if n, err := t.Hub.Notify(context.Background()); err == nil && len(n.Webhook) > len("https://x") {
		o.Literals = append(o.Literals, n.Webhook)
	}
	o.Literals = append(o.Literals, t.Hub.ConnectionSecrets(context.Background())...)
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

// Imports returns the part that plans imports of projects.
func (t *Tree) Imports() *transfer.Imports { return t.imports }

// Exports returns the part that plans exports of projects.
func (t *Tree) Exports() *transfer.Exports { return t.exports }
