package machine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

type appOpenOptions struct {
	opt.BaseURL
	print bool
	list  bool
	end   string
	lasts time.Duration
	json  bool
}

// NewOpen makes the command open.
func NewOpen(env *term.Env) *cobra.Command {
	var o appOpenOptions
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the console in a browser",
		Long: `Open the console: a page of the hub that shows its agents live and lets you act.

The command prints an address, and opens it if it runs in a terminal with a display.
The address has a code that is good once and for two minutes. The page exchanges it for
a pass, keeps the pass in its tab, and acts with it as you. It sends the pass to nobody,
and sends nothing to a program that has taken the port of the hub. A pass ends by itself,
or with --end; --list shows the passes. A pass cannot say which programs the hub starts.
It needs the secret of the hub, which only the user who started the hub can read.

A program that opens a browser shows the address to other users of the machine for a
moment. With --print no program gets it.`,
		Example: `  hubcli app open
  hubcli app open --print --for 1h
  hubcli app open --list
  hubcli app open --end pass_2f`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			if err := o.checkOpen(cmd); err != nil {
				return err
			}
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			switch {
			case o.list:
				return listPasses(cmd.Context(), env, &o, c)
			case o.end != "":
				return endPass(cmd.Context(), env, &o, c)
			}
			return openConsole(cmd.Context(), env, &o, c)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.print, "print", false, "print the address and open no browser")
	f.Var(term.DurationValue{To: &o.lasts, Min: hub.MinPassLife, Max: hub.MaxPassLife, Style: term.InWholeSeconds}, "for", "`time` after which the pass ends by itself, such as 1h (default: twelve hours)")
	f.BoolVar(&o.list, "list", false, "list the passes in force")
	f.StringVar(&o.end, "end", "", "`pass` to end, as --list names it")
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// checkOpen refuses flags that do not go together.
func (o *appOpenOptions) checkOpen(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("end") && o.end == "":
		return term.Usage("hubcli app open --list shows the passes", "--end cannot be empty")
	case o.list && o.end != "":
		return term.Usage("leave one of them out", "--list and --end exclude each other")
	case (o.list || o.end != "") && (o.print || given("for")):
		return term.Usage("leave them out", "--print and --for are for a page that is opened")
	}
	return nil
}

// opened is what app open prints as JSON.
type opened struct {
	URL       string   `json:"url"`
	ExpiresAt hub.Time `json:"expires_at"`
	TTLSec    int      `json:"ttl_sec"`
}

func openConsole(ctx context.Context, env *term.Env, o *appOpenOptions, c *client.Client) error {
	base, err := o.proved(ctx)
	if err != nil {
		return err
	}
	code, err := c.CreatePassCode(ctx, hub.PassCodeInput{TTLSec: int(o.lasts / time.Second)})
	if err != nil {
		return err
	}
	// What is behind # stays in the browser: no server, log or referrer gets it. The page that
	// the server sends reads it, so the server has to be the hub.
	at := base + "/ui/#code=" + code.Code
	if o.json {
		return term.PrintJSON(env.Stdout, opened{URL: at, ExpiresAt: code.ExpiresAt, TTLSec: code.TTLSec})
	}
	if _, err := fmt.Fprintln(env.Stdout, at); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "hubcli: the address is good once, until %s; the page acts as you for %s\n", code.ExpiresAt, term.Span(hub.Time(code.TTLSec)*1000))
	program := browser(env)
	if o.print || len(program) == 0 {
		return nil
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], at)...)
	if err := opener.Start(); err != nil {
		fmt.Fprintf(env.Stderr, "hubcli: no browser was opened: %s does not run; open the address yourself\n", program[0])
		return nil
	}
	return opener.Process.Release()
}

// proved returns the address for the browser, at which the hub has just answered, and proved
// itself if it is one of this user. A browser may take localhost for an address at which
// another program listens, so the address is a number.
func (o *appOpenOptions) proved(ctx context.Context) (string, error) {
	base := strings.TrimSuffix(o.URL, "/")
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	if strings.EqualFold(u.Hostname(), "localhost") {
		host := "127.0.0.1"
		if note, err := client.Noted(o.Root, base); err == nil && note.Address.Addr() == netip.IPv6Loopback() {
			host = note.Address.Addr().String()
		}
		u.Host = net.JoinHostPort(host, u.Port())
		if u.Port() == "" {
			u.Host = strings.TrimSuffix(u.Host, ":")
		}
		base = u.String()
	}
	c := client.New(client.Config{BaseURL: base, DataRoot: o.Root})
	defer c.Close()
	_, err = c.Info(ctx)
	return base, err
}

// browser returns the program that opens an address, and its arguments before the address;
// none where no person sees a display.
func browser(env *term.Env) []string {
	if env.StdoutTerminal == nil || !env.StdoutTerminal() {
		return nil
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if env.Getenv("DISPLAY") == "" && env.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return []string{"xdg-open"}
}

func listPasses(ctx context.Context, env *term.Env, o *appOpenOptions, c *client.Client) error {
	passes, err := c.Passes(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, passes)
	}
	t := term.NewTable("no pass is in force", "PASS", "LABEL", ">SINCE", ">LEFT")
	now := hub.TimeOf(env.Now())
	for i := range passes {
		p := &passes[i]
		t.Add(string(p.PassID), p.Label, term.Age(now, p.CreatedAt), term.Span(p.ExpiresAt-now))
	}
	return (&list.Listing{}).Print(env, t)
}

func endPass(ctx context.Context, env *term.Env, o *appOpenOptions, c *client.Client) error {
	out, err := c.EndPass(ctx, hub.PassID(o.end))
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "ended %s, which began %s\n", out.Row.PassID, peertext.TerminalLine(out.Row.CreatedAt.String()))
	return err
}
