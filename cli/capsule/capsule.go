//go:build !carries && !hub_omit_capsule

package capsule

import (
	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
)

// New makes the command capsule.
func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "capsule",
		Short: "Move a project without Git or workspace file contents",
		Long: `Write a project to one file, a capsule, which another hub can take in. A capsule
holds what a hub knows of a project: rooms, decisions, artifacts, memories, tasks and,
if you want, messages. It holds no files of your workspace and nothing of Git.`,
		Example: `  hubcli capsule export web-shop --out web-shop.hubpack
  hubcli capsule export web-shop --out web-shop.hubpack --scope complete --privacy full_history
  hubcli capsule inspect web-shop.hubpack`,
	}
	return opt.Group(cmd, newCapsuleExport(env), newCapsuleInspect(env), newCapsuleImport(env), newCapsuleKey(env))
}
