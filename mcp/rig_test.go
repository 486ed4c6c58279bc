package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/mcp/session"
	"hubcli/supervisor"
)

// rig is a bridge to a real hub with the SDK's own client on the other side, over
// the pipes that a harness would use.
type rig struct {
	*sdk.ClientSession
	tb     testing.TB
	bridge *bridge
	hub    *client.Client // somebody else at the same hub
	end    func()
}

// bridgeTo starts a bridge to h; change may be nil.
func bridgeTo(tb testing.TB, h *testhub.Hub, change func(*Config)) *rig {
	tb.Helper()
	return bridgeWith(tb, h, change, func(*bridge) {})
}

// bridgeWith is bridgeTo with a change of what no configuration has.
func bridgeWith(tb testing.TB, h *testhub.Hub, change func(*Config), more func(*bridge)) *rig {
	tb.Helper()
	return bridgeOf(tb, h, change, more, nil, "")
}

// bridgeOf is bridgeWith for a client with options, which speaks a revision of the protocol; empty: the latest.
func bridgeOf(tb testing.TB, h *testhub.Hub, change func(*Config), more func(*bridge), options *sdk.ClientOptions, revision string) *rig {
	tb.Helper()
	cfg := Config{
		Version: "test", Log: tb.Output(),
		Config: session.Config{Getenv: func(string) string { return "" }, Now: time.Now, BaseURL: h.URL, Agent: "me"},
	}
	if change != nil {
		change(&cfg)
	}
	toBridge, fromClient := io.Pipe()
	toClient, fromBridge := io.Pipe()
	cfg.In, cfg.Out = toBridge, fromBridge
	b := newBridge(cfg)
	more(b)
	done := make(chan error, 1)
	go func() {
		done <- b.serve(context.Background())
		_ = fromBridge.Close()
	}()
	c := sdk.NewClient(&sdk.Implementation{Name: "rig", Version: "1"}, options)
	session, err := c.Connect(context.Background(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	r := &rig{ClientSession: session, tb: tb, bridge: b, hub: client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})}
	ended := false
	r.end = func() {
		if ended {
			return
		}
		ended = true
		_ = session.Close()
		select {
		case err := <-done:
			if err != nil {
				tb.Errorf("the bridge ended with %v", err)
			}
		case <-time.After(30 * time.Second):
			tb.Error("the bridge does not end")
		}
		r.hub.Close()
	}
	tb.Cleanup(r.end)
	return r
}

// try calls a tool.
func (r *rig) try(name string, args any) *sdk.CallToolResult {
	r.tb.Helper()
	res, err := r.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		r.tb.Fatalf("%s: %v", name, err)
	}
	return res
}

// must calls a tool that is to succeed and reads all of its data into out.
func (r *rig) must(name string, args, out any) {
	r.tb.Helper()
	res := r.try(name, verbosely(args))
	if res.IsError {
		r.tb.Fatalf("%s: %s", name, text(res))
	}
	b, err := json.Marshal(res.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(b, out)
	}
	if err != nil {
		r.tb.Fatalf("%s: %v", name, err)
	}
}

// verbosely asks for all members of the answer.
func verbosely(given any) args {
	all := args{"verbose": true}
	if some, ok := given.(args); ok {
		maps.Copy(all, some)
	}
	return all
}

// UnmarshalJSON reads a text of others as a model is told to: what stands in
// lines that begin with |, between two marks.
func (p *peerText) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || s == "" {
		*p = ""
		return err
	}
	lines := strings.Split(s, "\n")
	mark, ok := strings.CutPrefix(lines[0], "<<<")
	if n := len(lines); !ok || n < 3 || lines[n-1] != mark+">>>" {
		return fmt.Errorf("%q is not fenced", s)
	}
	lines = lines[1 : len(lines)-1]
	for i, line := range lines {
		if lines[i], ok = strings.CutPrefix(line, "| "); !ok {
			return fmt.Errorf("a line of %q stands outside", s)
		}
	}
	*p = peerText(strings.Join(lines, "\n"))
	return nil
}

// refused calls a tool that is to fail and returns what it says.
func (r *rig) refused(name string, args any) string {
	r.tb.Helper()
	res := r.try(name, args)
	if !res.IsError {
		r.tb.Fatalf("%s succeeds: %s", name, text(res))
	}
	return text(res)
}

func text(res *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func mustJSON(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	require.NoError(tb, err)
	return string(b)
}

// at makes a test's hub listen on an address.
func at(addr string) testhub.Option {
	return testhub.With(func(c *supervisor.Config) {
		_ = c.Listener.Close()
		l, err := net.Listen("tcp", addr)
		if err == nil {
			c.Listener = l
		}
	})
}

// freeAddress is one of loopback that nobody listens on.
func freeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	defer l.Close()
	return l.Addr().String()
}

// invite makes a room and returns the code of an invite into it for handle.
func invite(tb testing.TB, r *rig, handle hub.AgentID) string {
	tb.Helper()
	return inviteNamed(tb, r, string(handle), handle)
}

// inviteNamed is invite for a room with a name.
func inviteNamed(tb testing.TB, r *rig, name string, handle hub.AgentID) string {
	tb.Helper()
	ctx := context.Background()
	p, err := r.hub.CreateProject(ctx, hub.ProjectInput{Name: "Project " + name})
	require.NoError(tb, err)
	room, err := r.hub.CreateRoom(ctx, hub.RoomInput{Project: string(p.Row.ProjectID), Name: "Room " + name})
	require.NoError(tb, err)
	in, err := r.hub.CreateInvite(ctx, hub.InviteInput{Project: string(p.Row.ProjectID), Room: string(room.Row.RoomID), Role: "implementer", Handle: handle, MaxUses: 3})
	require.NoError(tb, err)
	return in.Row.Code
}
