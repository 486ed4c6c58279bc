package cli

import (
	"github.com/spf13/cobra"
)

// Tree returns the commands of the program in a version. Man pages and
// completion scripts are generated from it. Its help is the same on every
// machine. The commands must not be run.
func Tree(version string) *cobra.Command {
	return newRoot(&Env{Version: version, Getenv: func(string) string { return "" }})
}
