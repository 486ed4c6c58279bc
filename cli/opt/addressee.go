package opt

import "github.com/spf13/pflag"

// Addressee is --new. The agent that a command names may be mistyped: the hub refuses an id that
// never registered while ids like it are known, unless the flag says that it is meant.
type Addressee struct{ IsNew bool }

// Add declares the flags.
func (a *Addressee) Add(f *pflag.FlagSet) {
	f.BoolVar(&a.IsNew, "new", false, "the agent is still to come, although its id is like a known one")
}
