package testcli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hubcli/cli/daemon"
	"hubcli/cli/term"
)

// World makes an Env whose daemon and stores are refused unless a test gives its
// own.
func World(t *testing.T, vars map[string]string) *term.Env {
	t.Helper()
	refuse := errors.New("the test has no such thing")
	return &term.Env{
		Version: "1.2.3", Stdin: strings.NewReader(""),
		Getenv:       func(k string) string { return vars[k] },
		Now:          time.Now,
		Executable:   func() (string, error) { return "", refuse },
		Daemon:       func(context.Context, term.DaemonConfig) error { return refuse },
		InspectStore: func(string) (daemon.StoreInfo, error) { return daemon.StoreInfo{}, refuse },
		DeleteStore:  func(string) (string, error) { return "", refuse },
	}
}
