// Package capsules lets a hub export and import projects. It hands what the plans need from the parts of the
// hub, and keeps nothing itself. A build that leaves capsules out does without it.
package capsules

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
	"hubcli/supervisor"
)

// of is the hub whose projects are exported and imported.
type of struct{ supervisor.Parts }

// New makes the parts that plan exports and imports of projects.
func New(p supervisor.Parts) supervisor.Capsules {
	h := of{p}
	exports := transfer.New(transfer.Options{
		Dir: h.Store.PlansDir(), Store: h.Store.Dir(), Version: h.Version, Snapshots: h.Store,
		Project: h.Hub.Project, Room: h.Hub.Room, Space: h.Store.Room,
		Machine: h.machine, Secrets: h.Hub.EachSecret, Log: h.Log, Gone: h.Gone,
		WorkTrees: h.workTrees, Busy: h.Hub.Busy,
	})
	imports := transfer.NewImports(transfer.ImportOptions{
		Import: h.Hub.ImportCapsule, Names: h.Hub.NamesForImport, Earlier: h.Hub.ImportedBefore, Log: h.Log,
		SharedRooms: h.Hub.RoomsSharedByImport, Busy: h.Hub.Busy,
	})
	return supervisor.Capsules{Exports: exports, Imports: imports, Close: func() {
		exports.Close()
		imports.Close()
	}}
}

// workTrees returns the roots of the Git work trees in which folders are bound to rooms of a
// project, one for each repository. A folder that is gone is in none.
func (h of) workTrees(ctx context.Context, project hub.ProjectID) ([]string, error) {
	rooms, err := hub.All(ctx, h.Hub.Rooms, hub.RoomsQuery{Project: string(project), Archived: true, Limit: hub.MaxPageRows})
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
func (h of) machine() redact.Options {
	o := redact.Options{Literals: []string{h.Store.OperatorToken()}}
	if n, err := h.Hub.Notify(context.Background()); err == nil && len(n.Webhook) > len("https://x") {
		o.Literals = append(o.Literals, n.Webhook)
	}
	o.Literals = append(o.Literals, h.Hub.ConnectionSecrets(context.Background())...)
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
