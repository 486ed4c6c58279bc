package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/hub"
)

type leasesOptions struct {
	listing
	roomRef
	holder, prefix string
}

func newAppClaims(env *Env) *cobra.Command {
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

func newAppLocks(env *Env) *cobra.Command {
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

func newLeases(env *Env, cmd *cobra.Command, key string, find func(context.Context, *spectator, hub.LeasesQuery) (found, error)) *cobra.Command {
	var o leasesOptions
	cmd.Args = arity()
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := hub.LeasesQuery{Owner: hub.AgentID(o.holder), Prefix: o.prefix, ActiveOnly: true, Limit: hub.MaxPageRows}
		if err := o.checkRoom(cmd); err != nil {
			return err
		}
		if err := checkNamed(cmd, "holder", q.Owner); err != nil {
			return err
		}
		return o.run(cmd, env, func(ctx context.Context, s *spectator) (got found, err error) {
			if q.RoomID, err = o.onlyRoom(ctx, s.Client); err != nil {
				return found{}, err
			}
			got, err = find(ctx, s, q)
			return s.orUnknown(ctx, got, err, q.Owner)
		})
	}
	f := cmd.Flags()
	o.addRoom(f, roomOnlyUsage)
	f.StringVar(&o.holder, "holder", "", "only those that this `agent` holds")
	f.StringVar(&o.prefix, "prefix", "", "only those whose "+key+" begins with this `text`")
	o.listing.add(env, f)
	return cmd
}

func findClaims(ctx context.Context, s *spectator, q hub.LeasesQuery) (found, error) {
	claims, err := hub.All(ctx, s.Claims, q)
	if err != nil {
		return found{}, err
	}
	t := leaseTable("no claim is held", "CLAIM(12)")
	now := s.now()
	for i := range claims {
		c := &claims[i]
		t.add(c.ClaimKey, c.OwnerAgentID, age(now, c.ClaimedAt), span(c.ExpiresAt-now), c.Fence, waiters(now, c.Waiters))
	}
	return found{rows: claims, text: t}, nil
}

func findLocks(ctx context.Context, s *spectator, q hub.LeasesQuery) (found, error) {
	locks, err := hub.All(ctx, s.Locks, q)
	if err != nil {
		return found{}, err
	}
	t := leaseTable("no lock is held", "FILE(16)")
	now := s.now()
	for i := range locks {
		l := &locks[i]
		t.add(l.FilePath, l.AgentID, age(now, l.LockedAt), span(l.ExpiresAt-now), l.Fence, waiters(now, l.Waiters))
	}
	return found{rows: locks, text: t}, nil
}

func leaseTable(none, key string) *table {
	return newTable(none, key, "HOLDER(8)", ">HELD", ">EXPIRES IN", ">FENCE", "WAITING(8)")
}

// waiters names the agents in line. The hub names the first ones of a long line.
func waiters(now hub.Time, line []hub.LeaseWaiter) cell {
	parts := make([]string, len(line))
	for i, w := range line {
		parts[i] = fmt.Sprintf("%s %s", w.AgentID, age(now, w.Since))
	}
	if len(line) == hub.MaxLeaseWaiters {
		parts = append(parts, "and perhaps more")
	}
	return cell{strings.Join(parts, ", "), sgrYellow}
}
