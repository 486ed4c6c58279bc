//go:build !carries && !hub_omit_capsule

package capsule

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/capsule/seal"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

// signingKeyFile is the user's signing key, in the data root.
const signingKeyFile = "signing.key"

func newCapsuleKey(env *term.Env) *cobra.Command {
	var create, asJSON bool
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Show or make the key that signs your capsules",
		Long: `Show the public key with which others check the capsules that you sign. With --create,
make the key first. It is kept in your data root, for your user alone and without a
password: a program that can read it can sign as you. No other command makes one.

The key is one of minisign. To sign with a key of your own, name it with --sign-key.`,
		Example: `  hubcli capsule key --create
  hubcli capsule key`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			return runCapsuleKey(env, create, asJSON)
		},
	}
	cmd.Flags().BoolVar(&create, "create", false, "make the key; one that is there is never replaced")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the key as JSON")
	return cmd
}

func runCapsuleKey(env *term.Env, create, asJSON bool) error {
	file, err := signingKey(env)
	if err != nil {
		return err
	}
	if create {
		if err := createSigningKey(env, file); err != nil {
			return err
		}
	}
	key, err := publicPart(file)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, hub.CapsuleSigner{KeyID: key.ID(), PublicKey: key.String(), File: file})
	}
	if create {
		fmt.Fprintf(env.Stderr, "made a signing key without a password in %s; keep a copy where only you can read it\n", peertext.TerminalLine(file))
	}
	_, err = fmt.Fprintf(env.Stdout, "key %s: %s\n", key.ID(), key)
	return err
}

// signingKey is the path of the user's signing key, whether or not there is one.
func signingKey(e *term.Env) (string, error) {
	root, err := e.DataRoot()
	if err != nil {
		return "", err
	}
	file, err := filepath.Abs(filepath.Join(root, signingKeyFile))
	if err != nil {
		return "", term.Usage("set HUB_DATA_ROOT to an absolute path", "the data root cannot be resolved: %v", err)
	}
	return file, nil
}

func createSigningKey(env *term.Env, file string) error {
	if err := env.MakeDataRoot(); err != nil {
		return err
	}
	secret, _, err := seal.NewKey()
	if err == nil {
		err = osfile.Create(file, osfile.Content{Mode: 0o600, Exactly: true, Write: osfile.Bytes(secret)})
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return term.Fail(term.ExitRefused, "show it with: hubcli capsule key; to use another one, move that file away first", "there is a signing key in %s", file)
	case err != nil:
		return term.Fail(term.ExitRefused, "mend that, and try again", "the signing key cannot be written: %v", err)
	}
	return nil
}

// publicPart is the public key of a file with a signing key.
func publicPart(file string) (seal.PublicKey, error) {
	text, err := readShort(file, seal.MaxKeyBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return seal.PublicKey{}, term.Fail(term.ExitRefused, "make one with: hubcli capsule key --create; or name yours with --sign-key", "there is no signing key in %s", file)
	case err != nil:
		return seal.PublicKey{}, term.Fail(term.ExitRefused, "mend that, and try again", "the signing key cannot be read: %v", err)
	}
	signer, err := seal.ParseSigner(text)
	if err != nil {
		return seal.PublicKey{}, opt.AsUsage(err)
	}
	return signer.Key(), nil
}

// readShort reads a file of at most limit bytes, which must not be a pipe or a device.
func readShort(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", file)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s is too large to be one", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// sealFlags are the flags of capsule export about signature and encryption.
type sealFlags struct {
	sign    bool
	signKey string
	to      []string
}

func (o *sealFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&o.sign, "sign", false, "sign the file with your key (see hubcli capsule key); the signature is beside it, its name ends with .minisig")
	f.StringVar(&o.signKey, "sign-key", "", "sign with the minisign key of this `file`, which must have no password")
	f.StringArrayVar(&o.to, "to", nil, "encrypt the file to this age `recipient` (age1…), or to those of a file; may be repeated")
}

// fill puts what the flags ask for into the input of an export.
func (o *sealFlags) fill(env *term.Env, in *hub.CapsuleExportInput) (err error) {
	switch {
	case o.signKey != "":
		if in.SignKey, err = opt.Absolute("--sign-key", o.signKey); err != nil {
			return err
		}
	case o.sign:
		if in.SignKey, err = signingKey(env); err != nil {
			return err
		}
		if _, err := publicPart(in.SignKey); err != nil {
			return err
		}
	}
	for _, to := range o.to {
		found, err := recipients(to)
		if err != nil {
			return err
		}
		in.To = append(in.To, found...)
	}
	return nil
}

// recipients are one recipient, or those of a file: one a line, empty lines and comments.
func recipients(text string) ([]string, error) {
	to, err := seal.ParseRecipient(text)
	if err == nil {
		return []string{to}, nil
	}
	content, fileErr := readShort(text, seal.MaxIdentityBytes)
	if fileErr != nil { // the text is not repeated: it may be a secret in the wrong place
		return nil, opt.AsUsage(err)
	}
	var all []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		to, err := seal.ParseRecipient(line)
		if err != nil {
			return nil, opt.AsUsage(err)
		}
		all = append(all, to)
	}
	if len(all) == 0 {
		return nil, term.Usage("put a line into it that begins with age1", "the file of --to has no recipient")
	}
	return all, nil
}

// trustFlags are the flags about the signature and the encryption of a capsule that is read.
type trustFlags struct {
	identity string
	keys     []string
}

func (o *trustFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.identity, "identity", "", "`file` with the age identity that opens an encrypted capsule")
	f.StringArrayVar(&o.keys, "key", nil, "refuse the capsule unless this minisign public `key` (RW…, or its file) has signed it; may be repeated")
}

// input is what the flags say about a capsule. Without --key the user's own key is known.
func (o *trustFlags) input(env *term.Env, path string) (in hub.CapsuleInspectInput, err error) {
	if in.Path, err = opt.Absolute("path", path); err != nil {
		return in, err
	}
	if o.identity != "" {
		if in.Identity, err = opt.Absolute("--identity", o.identity); err != nil {
			return in, err
		}
	}
	for _, text := range o.keys {
		key, err := seal.ParsePublicKey("keys", text)
		if err != nil {
			if content, fileErr := readShort(text, seal.MaxKeyBytes); fileErr == nil {
				key, err = seal.ParsePublicKey("keys", string(content))
			}
		}
		if err != nil {
			return in, opt.AsUsage(err)
		}
		in.Keys, in.Signed = append(in.Keys, key.String()), true
	}
	if len(in.Keys) > 0 {
		return in, nil
	}
	if own, err := signingKey(env); err == nil {
		if key, err := publicPart(own); err == nil {
			in.Keys = []string{key.String()}
		}
	}
	return in, nil
}
