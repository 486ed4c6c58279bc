//go:build !carries && !hub_omit_capsule

package capsule

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/capsule/seal"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// capsuleExport are the flags of capsule export and of project export.
type capsuleExport struct {
	opt.BaseURL
	sealFlags
	out, scope, rooms, privacy string
	artifacts                  []string
	bundle, mirror, yes, json  bool
}

func newCapsuleExport(env *term.Env) *cobra.Command {
	o := &capsuleExport{}
	cmd := &cobra.Command{
		Use:   "export <project>",
		Short: "Write a project to a capsule",
		Long: `Write a project to one file, as it is at this moment. Agents go on working meanwhile.

The hub plans the export first: it says what the file holds, what is replaced and what
is left out, and asks. Nothing is written to --out before you agree, and no file that
is there is ever replaced. If the project changes before you agree, you are asked again.

The scope knowledge holds everything but messages; complete holds the messages of all
rooms, too; selected_rooms is complete for the rooms of --rooms. With the privacy
share_safe, secrets and the names of this machine and of its people are replaced, and
direct messages and binary artifacts are left out. full_history replaces nothing and
holds direct messages: keep such a file as you keep a password.

With --git-mirror the hub also writes Markdown for people into .hub/mirror of the Git
work tree that is bound to rooms of the project. It replaces only files that it has
written and nobody has changed, and never stages, commits or pushes. If there is no
such work tree, or more than one repository, the plan says so and only the file is written.

With --sign the file is signed, and the signature is written beside it. Others check it
with hubcli capsule inspect --key, or with the program minisign. With --to the file is
encrypted, so that only those who are named can open it, with hubcli or with the program
age; its name ends with .hubpack.age then.

The command reads the operator token in the store of the hub, so only the user who
started the hub can use it.`,
		Example: `  hubcli capsule export web-shop --out web-shop.hubpack
  hubcli capsule export web-shop --out all.hubpack --scope complete --privacy full_history --yes
  hubcli capsule export web-shop --out two.hubpack --scope selected_rooms --rooms r_4,r_9
  hubcli capsule export web-shop --out web-shop.hubpack --sign
  hubcli capsule export web-shop --out web-shop.hubpack.age --to ann.txt --privacy full_history`,
		Args: opt.Arity("project"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			in, err := o.input(env, args[0])
			if err != nil {
				return err
			}
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			return runExport(cmd.Context(), env, c, o, in)
		},
	}
	cmd.Flags().StringVar(&o.out, "out", "", "`file` to write, which must not exist; its name ends with .hubpack, or with .hubpack.age if it is encrypted (required)")
	o.sealFlags.add(cmd.Flags())
	cmd.Flags().BoolVar(&o.mirror, "git-mirror", false, "also write a mirror to read into the one bound Git work tree")
	o.add(env, cmd, hub.CapsuleKnowledge)
	return cmd
}

// add adds the flags that exports of both forms have.
func (o *capsuleExport) add(env *term.Env, cmd *cobra.Command, scope hub.CapsuleScope) {
	f := cmd.Flags()
	f.StringVar(&o.scope, "scope", string(scope), "what is exported: knowledge, complete or selected_rooms")
	f.StringVar(&o.rooms, "rooms", "", "`rooms` of the scope selected_rooms, separated by commas")
	f.StringVar(&o.privacy, "privacy", string(hub.CapsuleShareSafe), "how texts are treated: share_safe or full_history")
	f.StringSliceVar(&o.artifacts, "artifact", nil, "`id` of a binary artifact that share_safe holds all the same; may be repeated")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	f.BoolVar(&o.json, "json", false, "print the plan that was carried out as JSON")
	o.BaseURL.Add(env, f)
}

// input is what the flags of capsule export ask for.
func (o *capsuleExport) input(env *term.Env, project string) (hub.CapsuleExportInput, error) {
	suffix := ".hubpack"
	if len(o.to) > 0 {
		suffix += seal.EncryptedSuffix
	}
	if o.out == "" {
		return hub.CapsuleExportInput{}, term.Usage("name the file to write, for example --out shop"+suffix, "--out is missing")
	}
	if !strings.HasSuffix(o.out, suffix) {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(o.out), seal.EncryptedSuffix), ".hubpack") + suffix
		return hub.CapsuleExportInput{}, term.Usage("name it such as "+name, "the name of the file of --out does not end with %s", suffix)
	}
	in, err := o.inputTo(project, o.out)
	if err == nil {
		err = o.fill(env, &in)
	}
	return in, err
}

// inputTo is what the flags of both forms ask for. The hub may run in another folder, so the
// target becomes absolute here.
func (o *capsuleExport) inputTo(project, target string) (hub.CapsuleExportInput, error) {
	in := hub.CapsuleExportInput{
		Project: project, Scope: hub.CapsuleScope(o.scope), Privacy: hub.CapsulePrivacy(o.privacy), GitMirror: o.mirror,
	}
	var err error
	if in.Out, err = filepath.Abs(target); err != nil {
		return in, term.Usage("give --out as an absolute path", "--out cannot be resolved: %v", err)
	}
	for room := range strings.SplitSeq(o.rooms, ",") {
		if room = strings.TrimSpace(room); room != "" {
			in.Rooms = append(in.Rooms, room)
		}
	}
	for _, id := range o.artifacts {
		in.Artifacts = append(in.Artifacts, hub.ArtifactID(id))
	}
	if err := api.ValidateCapsuleExport(&in); err != nil {
		return in, opt.AsUsage(err)
	}
	return in, nil
}

// runExport plans an export, asks, and has it carried out.
func runExport(ctx context.Context, env *term.Env, c *client.Client, o *capsuleExport, in hub.CapsuleExportInput) error {
	begin, question := c.PlanExport, "Write this file?"
	if o.bundle {
		begin, question = c.PlanBundle, "Write this folder?"
	}
	plan, err := begin(ctx, in)
	if err != nil {
		return err
	}
	flow := planFlow[hub.CapsulePlan]{
		env: env, yes: o.yes, question: question, get: c.ExportPlan, cancel: c.CancelExport, confirm: c.ConfirmExport,
		view: func(p *hub.CapsulePlan) planView {
			return planView{ID: p.PlanID, Digest: p.PlanDigest, Prompt: p.Prompt, Error: p.Error, State: p.State, Done: p.Done, Total: p.Total}
		},
		doing:  map[hub.CapsulePlanState]string{hub.CapsulePlanning: "planning: %d of %d rows\n"},
		failed: "the export could not be planned", fix: "mend that, and export again",
	}
	if plan, err = flow.run(ctx, plan); err != nil {
		return err
	}
	return printExported(env, o, &plan)
}

func printExported(env *term.Env, o *capsuleExport, plan *hub.CapsulePlan) error {
	if o.json {
		if err := term.PrintJSON(env.Stdout, plan); err != nil {
			return err
		}
		return mirrorFailure(plan.Mirror)
	}
	files := ""
	if plan.Form == hub.CapsuleBundle {
		files = fmt.Sprintf("%d files, ", plan.Files)
	}
	_, err := fmt.Fprintf(env.Stdout, "exported project %s to %s: %s%d bytes\n",
		peertext.TerminalLine(plan.Project.Slug), peertext.TerminalLine(plan.Target), files, plan.Size)
	if err == nil && plan.Signer != nil {
		_, err = fmt.Fprintf(env.Stdout, "signed it by key %s: %s\n", plan.Signer.KeyID, peertext.TerminalLine(plan.Signer.File))
	}
	if err != nil || plan.Mirror == nil {
		return err
	}
	return printMirror(env, plan.Mirror)
}

// printMirror says what became of a mirror, and names the files that were kept.
func printMirror(env *term.Env, m *hub.CapsuleMirror) error {
	switch m.State {
	case hub.MirrorSkipped:
		fmt.Fprintf(env.Stderr, "no mirror was written: %s\n", peertext.TerminalLine(m.Reason))
	case hub.MirrorDone:
		_, err := fmt.Fprintf(env.Stdout, "mirrored it to %s: %d new, %d replaced, %d removed, %d unchanged, %d kept\n",
			peertext.TerminalLine(m.Folder), m.Write, m.Replace, m.Remove, m.Same, m.Kept)
		if err != nil {
			return err
		}
		printKept(env, m.Changes)
	case hub.MirrorPlanned, hub.MirrorFailed:
	}
	return mirrorFailure(m)
}

// printKept names the files that somebody has changed, and where the new texts are.
func printKept(env *term.Env, changes []hub.CapsuleMirrorChange) {
	const kept, beside = "kept", ".new"
	for i, c := range changes {
		if c.Do != kept {
			continue
		}
		where := ""
		if next := i + 1; next < len(changes) && changes[next].Path == c.Path+beside && changes[next].Do != kept {
			where = "; the new text is in " + changes[next].Path
		}
		fmt.Fprintf(env.Stderr, "kept %s, which somebody has changed%s\n", peertext.TerminalLine(c.Path), peertext.TerminalLine(where))
	}
}

// mirrorFailure is the failure of a mirror whose capsule is in place.
func mirrorFailure(m *hub.CapsuleMirror) error {
	if m == nil || m.State != hub.MirrorFailed {
		return nil
	}
	return term.Fail(term.ExitRefused, "mend that, and export to another file to write the mirror",
		"the file was written, but the mirror was not: %s", peertext.TerminalLine(m.Reason))
}
