package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/cli/daemon"
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

// world makes an Env whose daemon and stores are refused unless a test gives its
// own.
func world(t *testing.T, vars map[string]string) *Env {
	t.Helper()
	refuse := errors.New("the test has no such thing")
	return &Env{
		Version: "1.2.3", Stdin: strings.NewReader(""),
		Getenv:       func(k string) string { return vars[k] },
		Now:          time.Now,
		Executable:   func() (string, error) { return "", refuse },
		Daemon:       func(context.Context, DaemonConfig) error { return refuse },
		InspectStore: func(string) (daemon.StoreInfo, error) { return daemon.StoreInfo{}, refuse },
		DeleteStore:  func(string) (string, error) { return "", refuse },
	}
}

// runIn runs a command line in env.
func runIn(t *testing.T, env *Env, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	env.Stdout, env.Stderr = &out, &err
	exit := Run(t.Context(), env, args)
	return ran{exit, out.String(), err.String()}
}
