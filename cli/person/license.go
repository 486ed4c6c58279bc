//go:build !carries && !hub_omit_license

package person

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// licenseConfig shows the file that an operator writes.
const licenseConfig = `  {"server": "https://api.keygen.sh", "account": "acme",
   "product": "5b3fbd24-7c1e-4b2a-9d1c-2f0a4f6b7e10",
   "public_key": "e8601e48b69383ba520245fd07971e983d06d22c4257cfd82304601479cee788"}`

// NewLicense makes the command license.
func NewLicense(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "license",
		Short: "Manage this machine's license",
		Long: `Prove that this machine may run a build of hubcli that an operator licenses.
Everything works without a license, and "license show" says so.

The operator of such a build names the license server in the file
license/config.json of the data root (see: hubcli data-root), for example:

` + licenseConfig + `

The server speaks the protocol of Keygen, in the cloud or on a host of your own
(leave account out if it has only one). Its answers count only if they are signed
with this public key.`,
		Example: `  hubcli license show
  hubcli license activate - < key.txt
  hubcli license verify
  hubcli license deactivate`,
	}
	return opt.Group(cmd, newLicenseShow(env), newLicenseVerify(env), newLicenseActivate(env), newLicenseDeactivate(env))
}

func newLicenseShow(env *term.Env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the license state, offline",
		Long: `Print what this machine knows of its license. The command needs no network and no
hub: it verifies the file that the license server has signed, its product, this
machine and the clock. It changes nothing.

The exit code is 0 if the license is active or if there is none, and 1 if there is
one that does not hold: expired, for another machine, not genuine, or not readable.`,
		Example: `  hubcli license show`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := env.DataRoot()
			if err != nil {
				return term.Usage("set HOME or HUB_DATA_ROOT", "%s", err)
			}
			row, err := env.ShowLicense(cmd.Context(), root)
			if err != nil {
				return err
			}
			if asJSON {
				err = term.PrintJSON(env.Stdout, row)
			} else {
				printLicense(env.Stdout, &row)
			}
			if err != nil {
				return err
			}
			if row.State == hub.LicenseActive || row.State == hub.LicenseNone {
				return nil
			}
			return &term.Failure{Exit: term.ExitRefused, Sentence: row.Why, Fix: row.Fix}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the license as JSON")
	return cmd
}

// printLicense prints a license, one line for each thing that is known.
func printLicense(w io.Writer, l *hub.License) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s %s\n", name, peertext.TerminalLine(text))
		}
	}
	line("state", strings.ReplaceAll(string(l.State), "_", " ")+": "+l.Why)
	line("server", l.Server)
	line("account", l.Account)
	line("product", l.Product)
	line("license", l.LicenseID)
	line("machine", l.Fingerprint)
	if l.KeyIn == hub.LicenseInStore {
		line("key", "in the credential store, under "+l.KeyPath)
	} else {
		line("key", l.KeyPath)
	}
	line("signed", timeText(l.IssuedAt))
	if l.DaysLeft != nil {
		line("expires", fmt.Sprintf("%s, %s left", timeText(l.ExpiresAt), term.Some(int64(*l.DaysLeft), "day")))
	}
	if l.RenewAt != nil {
		line("renew before", timeText(l.RenewAt))
	}
}

func timeText(t *hub.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}

func newLicenseVerify(env *term.Env) *cobra.Command {
	o, asJSON := &opt.BaseURL{}, false
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Ask the license server whether the license is valid",
		Long: `Have the hub ask the license server whether the license of this machine is still
valid. It changes nothing, here or there. The exit code is 1 if the license is not
valid, or if there is no answer.`,
		Example: `  hubcli license verify`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			found, err := c.VerifyLicense(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				if err := term.PrintJSON(env.Stdout, found); err != nil || found.Valid {
					return err
				}
			}
			if !found.Valid {
				return &term.Failure{Exit: term.ExitRefused, Sentence: found.Why + " (" + found.Server + " says " + found.ServerCode + ")", Fix: found.Fix}
			}
			until := ""
			if found.ExpiresAt != nil {
				until = ", until " + found.ExpiresAt.String()
			}
			_, err = fmt.Fprintf(env.Stdout, "valid%s, says %s\n", until, peertext.TerminalLine(found.Server))
			return err
		},
	}
	o.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the server says as JSON")
	return cmd
}

// licenseChange are the flags of the commands that change the license.
type licenseChange struct {
	opt.BaseURL
	yes bool
}

func (o *licenseChange) add(env *term.Env, cmd *cobra.Command) *cobra.Command {
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	return cmd
}

func newLicenseActivate(env *term.Env) *cobra.Command {
	o := &licenseChange{}
	return o.add(env, &cobra.Command{
		Use:   "activate <key>",
		Short: "Activate this machine",
		Long: `Activate the license on this machine, after showing what is sent where, where the
key is kept, and asking. It takes one of the places of the license. The same key
again gets a new signed file and takes no other place.

Other users of the machine can read the arguments of a command while it runs, and
a shell may keep them. The key - is read from standard input instead.

The hub keeps the key in the credential store of the system, or, if there is none, in
a file for your user alone. The plan says which. The license server learns the key, a
name of this machine that does not tell the system's own id, and the platform.`,
		Example: `  hubcli license activate - --yes < key.txt
  hubcli license activate C1B6DE-39A6E3-DE1529-8559A0-4AF593-V3`,
		Args: opt.Arity("key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			key, err := licenseKey(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), env, "Activate it?", func(ctx context.Context, c hub.Licenses, digest string) (hub.License, error) {
				return c.ActivateLicense(ctx, hub.LicenseActivateInput{Key: key, Confirm: digest})
			})
		},
	})
}

// licenseKey returns the key of the argument, or the one on standard input.
func licenseKey(ctx context.Context, env *term.Env, arg string) (string, error) {
	const fix = "give the license key, or - and the key on standard input"
	key := arg
	if arg == term.StdinName {
		data, over, err := term.ReadInput(ctx, env, term.StdinName, hub.MaxLicenseKeyBytes+2)
		if err != nil {
			return "", err
		}
		if over {
			return "", term.Usage(fix, "standard input is longer than a license key")
		}
		key = strings.TrimRight(string(data), "\r\n")
	}
	if key = strings.TrimSpace(key); key == "" {
		return "", term.Usage(fix, "the license key is empty")
	}
	return key, nil
}

func newLicenseDeactivate(env *term.Env) *cobra.Command {
	o := &licenseChange{}
	return o.add(env, &cobra.Command{
		Use:   "deactivate",
		Short: "Free this machine's place on its license",
		Long: `Give the place of this machine on its license back, so that another machine can
take it, and delete the saved key and the signed file, after asking. Without an
answer of the license server nothing changes.`,
		Example: `  hubcli license deactivate
  hubcli license deactivate --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, "Deactivate it?", func(ctx context.Context, c hub.Licenses, digest string) (hub.License, error) {
				return c.DeactivateLicense(ctx, hub.LicenseDeactivateInput{Confirm: digest})
			})
		},
	})
}

// run makes a change: it asks the hub for the plan, shows it, and sends the confirmation.
func (o *licenseChange) run(ctx context.Context, env *term.Env, question string, change func(context.Context, hub.Licenses, string) (hub.License, error)) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	done, err := change(ctx, c, "")
	if prompt, digest, asked := opt.NeedsAnswer(err); asked {
		if err := opt.AgreeToPlan(ctx, env, o.yes, prompt, question); err != nil {
			return err
		}
		done, err = change(ctx, c, digest)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, peertext.TerminalLine(done.Why))
	return err
}
