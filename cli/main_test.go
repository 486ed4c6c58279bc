package cli

import (
	"bytes"
	"testing"

	"go.uber.org/goleak"

	"hubcli/cli/term"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// lumberjack never ends the goroutine that deletes old logs.
		goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

// ran is how a command in this process ended.
type ran struct {
	exit           int
	stdout, stderr string
}

// runIn runs a command line in env.
func runIn(t *testing.T, env *term.Env, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	env.Stdout, env.Stderr = &out, &err
	exit := Run(t.Context(), env, args)
	return ran{exit, out.String(), err.String()}
}
