package person

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

type leasesOptions struct {
	list.Listing
	list.RoomRef
	holder, prefix string
}

// NewClaims makes the command claims.
func NewClaims(env *term.Env) *cobra.Command {
	return newLeases(env, &cobra.Command{
		Use:   "claims",
		Short: "List the claims that are held, and the agents that wait",
		Long: `List the claims that agents hold: by whom each of them is held, for how long it has
been held, when it expires, its fence, and the agents that wait for it with the time
that they have waited, the first in line first.`,
		Example: `  hubcli app claims
  hubcli app claims --room web-shop/checkout --watch
  hubcli app claims --prefix repo: --json`,
	}, "key", findClaims)
}

// NewLocks makes the command locks.
func NewLocks(env *term.Env) *cobra.Command {
	return newLeases(env, &cobra.Command{
		Use:   "locks",
		Short: "List the file locks that are held, and the agents that wait",
		Long: `List the locks that agents hold on files: by whom each of them is held, for how long it
has been held, when it expires, its fence, and the agents that wait for it with the
time that they have waited, the first in line first.`,
		Example: `  hubcli app locks
  hubcli app locks --holder dev-a
  hubcli app locks --prefix /srv/shop/src --watch`,
	}, "path", findLocks)
}

func newLeases(env *term.Env, cmd *cobra.Command, key string, find func(context.Context, *list.Spectator, hub.LeasesQuery) (list.Found, error)) *cobra.Command {
	var o leasesOptions
	cmd.Args = opt.Arity()
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := hub.LeasesQuery{Owner: hub.AgentID(o.holder), Prefix: o.prefix, ActiveOnly: true, Limit: hub.MaxPageRows}
		if err := o.CheckRoom(cmd); err != nil {
			return err
		}
		if err := checkNamed(cmd, "holder", q.Owner); err != nil {
			return err
		}
		return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
			if q.RoomID, err = o.OnlyRoom(ctx, s.Client); err != nil {
				return list.Found{}, err
			}
			got, err = find(ctx, s, q)
			return s.OrUnknown(ctx, got, err, q.Owner)
		})
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.StringVar(&o.holder, "holder", "", "only those that this `agent` holds")
	f.StringVar(&o.prefix, "prefix", "", "only those whose "+key+" begins with this `text`")
	o.AddIDs(env, f, map[string]string{"claims": "claim_key", "locks": "file_path"}[cmd.Name()])
	return cmd
}

func findClaims(ctx context.Context, s *list.Spectator, q hub.LeasesQuery) (list.Found, error) {
	claims, err := hub.All(ctx, s.Claims, q)
	if err != nil {
		return list.Found{}, err
	}
	t := leaseTable("no claim is held", "CLAIM(12)")
	now := s.Now()
	for i := range claims {
		c := &claims[i]
		t.Add(c.ClaimKey, c.OwnerAgentID, term.Age(now, c.ClaimedAt), term.Span(c.ExpiresAt-now), c.Fence, waiters(now, c.Waiters))
	}
	return list.Found{Rows: claims, Text: t}, nil
}

func findLocks(ctx context.Context, s *list.Spectator, q hub.LeasesQuery) (list.Found, error) {
	locks, err := hub.All(ctx, s.Locks, q)
	if err != nil {
		return list.Found{}, err
	}
	t := leaseTable("no lock is held", "FILE(16)")
	now := s.Now()
	for i := range locks {
		l := &locks[i]
		t.Add(l.FilePath, l.AgentID, term.Age(now, l.LockedAt), term.Span(l.ExpiresAt-now), l.Fence, waiters(now, l.Waiters))
	}
	return list.Found{Rows: locks, Text: t}, nil
}

func leaseTable(none, key string) *term.Table {
	return term.NewTable(none, key, "HOLDER(8)", ">HELD", ">EXPIRES IN", ">FENCE", "WAITING(8)")
}

// waiters names the agents in line. The hub names the first ones of a long line.
func waiters(now hub.Time, line []hub.LeaseWaiter) term.Cell {
	parts := make([]string, len(line))
	for i, w := range line {
		parts[i] = fmt.Sprintf("%s %s", w.AgentID, term.Age(now, w.Since))
	}
	if len(line) == hub.MaxLeaseWaiters {
		parts = append(parts, "and perhaps more")
	}
	return term.Cell{Text: strings.Join(parts, ", "), Color: term.SGRYellow}
}
