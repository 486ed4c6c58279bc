//go:build !carries

package cli

import (
	"github.com/spf13/cobra"
)

func newCapsule(env *Env) *cobra.Command {
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
	return group(cmd, newCapsuleExport(env), newCapsuleInspect(env), newCapsuleImport(env), newCapsuleKey(env))
}
