//go:build !carries && !hub_omit_capsule

package capsule

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newCapsuleInspect(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		trustFlags
		json bool
	}
	cmd := &cobra.Command{
		Use:   "inspect <path>",
		Short: "Check a capsule and say what it holds",
		Long: `Read a capsule and check all of it: how the archive is built, every hash, every line
and what it refers to. Then say what it holds. Nothing is changed, and nothing is
imported. The exit code is 1 if the file is no capsule or not as the format says, or if
the signature beside it does not fit.

A signature is a file with the name of the capsule and .minisig. It is checked with the key
of --key, or with your own. --identity names the file that opens an encrypted capsule.`,
		Example: `  hubcli capsule inspect web-shop.hubpack
  hubcli capsule inspect web-shop.hubpack --json
  hubcli capsule inspect web-shop.hubpack --key ann.pub
  hubcli capsule inspect web-shop.hubpack.age --identity ~/.config/age/key.txt`,
		Args: opt.Arity("path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := o.input(env, args[0])
			if err != nil {
				return err
			}
			return runCapsuleInspect(cmd.Context(), env, &o.BaseURL, in, o.json)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	o.trustFlags.add(cmd.Flags())
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runCapsuleInspect(ctx context.Context, env *term.Env, base *opt.BaseURL, in hub.CapsuleInspectInput, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	found, err := c.InspectCapsule(ctx, in)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, found)
	}
	return printCapsule(env.Stdout, &found)
}

func printCapsule(w io.Writer, s *hub.CapsuleSummary) error {
	n := &s.Counts
	lines := [][2]string{
		{"project", s.Slug + ": " + s.Name},
		{"scope", string(s.Scope)},
		{"privacy", string(s.Privacy)},
		{"rooms", fmt.Sprint(n.Rooms)},
		{"agents", fmt.Sprint(n.Agents)},
		{"decisions", fmt.Sprint(n.Decisions)},
		{"artifacts", fmt.Sprintf("%d, %d bytes", n.Artifacts, n.BlobBytes)},
		{"memories", fmt.Sprint(n.Memories)},
		{"runs", fmt.Sprint(n.Runs)},
		{"tasks", fmt.Sprint(n.Tasks)},
		{"messages", fmt.Sprintf("%d, %d of them direct", n.Messages, n.Direct)},
		{"redacted", tallied(s.Redactions)},
		{"left out", hub.LeftOutWords(s.LeftOut, func(n int64) string { return fmt.Sprint(n) })},
		{"written", fmt.Sprintf("%s by version %s, schema %d.%d", s.CreatedAt, s.ProductVersion, s.SchemaMajor, s.SchemaMinor)},
		{"signed", signedBy(&s.Signature)},
		{"encrypted", term.YesNo(s.Encrypted)},
		{"size", fmt.Sprintf("%d bytes", s.Size)},
		{"capsule", s.CapsuleID},
		{"content", s.ContentDigest},
	}
	if _, err := fmt.Fprintf(w, "%s is a whole capsule\n", peertext.TerminalLine(s.Path)); err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "  %-9s  %s\n", line[0], peertext.TerminalLine(line[1])); err != nil {
			return err
		}
	}
	return nil
}

// signedBy says who has signed a capsule.
func signedBy(s *hub.CapsuleSignature) string {
	switch s.State {
	case hub.SignatureValid:
		return "valid, by key " + s.KeyID + ": " + s.Comment
	case hub.SignatureUnknownKey:
		return "by the unknown key " + s.KeyID + ", so it was not checked; name the key with --key"
	case hub.SignatureNone:
	}
	return "by nobody"
}

// tallied lists kinds with their counts, by name.
func tallied(counts map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
