package room

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// roomHost is what room allow-host is told.
type roomHost struct {
	opt.BaseURL
	list.RoomRef
	remove bool
	json   bool
}

func newRoomAllowHost(env *term.Env) *cobra.Command {
	var o roomHost
	cmd := &cobra.Command{
		Use:   "allow-host <room> [host[:port]]",
		Short: "Let the browser of a room reach a host that is not public",
		Long: `Let the browser of a room reach a host that has no public address, as the operator. The
usual case is a server that a developer runs on this machine: localhost:3000. Without a
port all ports of the host are allowed, but never the hub itself. Pages that agents open
reach the public internet without that, and nothing else. A host that is allowed by name
may not lead to link-local addresses or the metadata service of a cloud; write such an
address itself if it is meant. --remove takes a host back, also for pages that are open.
Without a host the command lists those that are allowed. . is the room that is bound to
the current folder. Every change is in the journal of the hub. A change needs the secret of
the hub, which the command reads from the store.`,
		Example: `  hubcli room allow-host web-shop/checkout localhost:3000
  hubcli room allow-host . 127.0.0.1:8080
  hubcli room allow-host web-shop/checkout
  hubcli room allow-host web-shop/checkout localhost:3000 --remove`,
		Args: opt.Between(1, "room", "host"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.TakeRoom(cmd, args[:1]); err != nil {
				return err
			}
			var host hub.AllowedHost
			if len(args) > 1 {
				name, port, err := hub.ParseHost(args[1])
				if err != nil {
					return opt.AsUsage(err)
				}
				host = hub.AllowedHost(hub.HostPort(name, port))
			} else if o.remove {
				return term.Usage("name the host to take back; without --remove the command lists those that are allowed", "--remove needs a host")
			}
			return runRoomAllowHost(cmd.Context(), env, &o, host)
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.remove, "remove", false, "take the host back")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runRoomAllowHost(ctx context.Context, env *term.Env, o *roomHost, host hub.AllowedHost) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	if host != "" {
		out, err := c.AsOperator().AllowHost(ctx, room.RoomID, hub.AllowHostInput{Host: host, Remove: o.remove})
		if err != nil {
			return err
		}
		room = out.Row
	}
	if o.json {
		return term.PrintJSON(env.Stdout, room)
	}
	_, err = fmt.Fprintf(env.Stdout, "room %s %s: its browser reaches %s\n", room.RoomID, peertext.TerminalLine(room.Slug), reachText(&room))
	return err
}

// reachText says what the browser of a room reaches.
func reachText(r *hub.Room) string {
	if len(r.AllowedHosts) == 0 {
		return "public addresses alone"
	}
	hosts := make([]string, len(r.AllowedHosts))
	for i, h := range r.AllowedHosts {
		hosts[i] = string(h)
	}
	return "public addresses, and " + strings.Join(hosts, ", ")
}
