//go:build unix

package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
	"hubcli/internal/testfeature"
	"hubcli/internal/testkeyring"
	"hubcli/internal/testport"
)

// scriptLicenses is the license server of a script.
type scriptLicenses struct {
	*licenseserver.Server
	end sync.Once
}

const licensesUsage = "licenses start|config|add|revoke|occupy|lie|kill|machines|content|down …"

// cmdLicenses is the license server that a script runs:
//
//	licenses start                       start it
//	licenses config <file>               write the configuration that names it
//	licenses add <key> <max> [status]    add a license; status is SUSPENDED, BANNED, ended or a number of days
//	licenses revoke <key>                delete a license
//	licenses occupy <key> <n>            take places for other machines
//	licenses lie <part of a path> <way>  lie there; without a way be honest again
//	licenses kill <port> <part>          kill the hub at port with SIGKILL at its next call of such a path
//	licenses machines <key> <n>          check how many machines a license has
//	licenses content                     check that every request was as the protocol describes
//	licenses down                        end it
func cmdLicenses(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, licensesUsage)
	if args[0] == "start" {
		s := &scriptLicenses{Server: licenseserver.Start()}
		ts.Defer(func() { s.end.Do(s.Close) })
		licensesOf.Store(ts.Getenv("WORK"), s)
		return
	}
	found, ok := licensesOf.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("there is no license server: licenses start")
	}
	s := found.(*scriptLicenses)
	switch verb, rest := args[0], args[1:]; verb {
	case "config":
		path := ts.MkAbs(rest[0])
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
		ts.Check(os.WriteFile(path, []byte(s.Config()), 0o600))
	case "add":
		s.add(ts, rest)
	case "revoke":
		s.Revoke(rest[0])
	case "occupy":
		s.Occupy(rest[0], number(ts, rest[1]))
	case "lie":
		s.Lie(rest[0], strings.Join(rest[1:], ""))
	case "kill":
		s.Before(func(r *http.Request) {
			if strings.Contains(r.URL.Path, rest[1]) {
				s.Before(nil)
				crash(rest[0])
			}
		})
	case "machines":
		n := number(ts, rest[1]) // a call whose caller was killed may still be under way
		if err := until(func() bool { return len(s.Machines(rest[0])) == n }); err != nil {
			ts.Fatalf("the license has the machines %q, want %s: %v", s.Machines(rest[0]), rest[1], err)
		}
	case "content":
		if got := s.Complaints(); len(got) > 0 {
			ts.Fatalf("complaints: %q", got)
		}
	case "down":
		s.end.Do(s.Close)
	default:
		ts.Fatalf("usage: %s", licensesUsage)
	}
}

// licensesOf are the servers of the scripts, by the folder of the script.
var licensesOf sync.Map

func (s *scriptLicenses) add(ts *testscript.TestScript, args []string) {
	l := licenseserver.License{Key: args[0], Max: number(ts, args[1])}
	if len(args) > 2 {
		switch args[2] {
		case "ended":
			past := time.Now().Add(-time.Hour)
			l.Expiry = &past
		case "SUSPENDED", "BANNED":
			l.Status = args[2]
		default:
			ends := time.Now().Add(time.Duration(number(ts, args[2]))*24*time.Hour + time.Hour)
			l.Expiry = &ends
		}
	}
	s.Add(l)
}

// crash kills the hub at a port and waits for its end. It runs beside the script, which finds
// out by what it does next.
func crash(port string) {
	if status, err := at(port).AppStatus(context.Background()); err == nil {
		_ = syscall.Kill(status.PID, syscall.SIGKILL)
		_ = until(func() bool { return !runs(status.PID) })
	}
}

// TestLicenseInARealStore: the key is kept in a real gnome-keyring, the command line reads it
// there without a hub, and nothing of it is in any file.
func TestLicenseInARealStore(t *testing.T) {
	testfeature.Need(t, "license")
	k := testkeyring.Start(t)
	s := licenseserver.Start()
	t.Cleanup(s.Close)
	const key = "KEY-4711-PLANTED"
	s.Add(licenseserver.License{Key: key, Max: 1})
	root := t.TempDir()
	dir := filepath.Join(root, "license")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(s.Config()), 0o600))
	port, err := testport.Take()
	require.NoError(t, err)
	base := "http://127.0.0.1:" + strconv.Itoa(port)
	run := func(args ...string) (string, error) {
		cmd := exec.Command("hubcli", args...)
		cmd.Env = append(os.Environ(), "HUB_DATA_ROOT="+root, "HOME="+root, "DBUS_SESSION_BUS_ADDRESS="+k.Address)
		cmd.Stdin = strings.NewReader(key + "\n")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { crash(strconv.Itoa(port)) })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"ensure", "--port", strconv.Itoa(port)}, "started"},
		{[]string{"license", "activate", "-", "--yes", "--base-url", base}, "active on this machine"},
		{[]string{"license", "show"}, "in the credential store, under hubcli license/"},
		{[]string{"license", "verify", "--base-url", base}, "valid"},
	} {
		if out, err := run(c.args...); err != nil || !strings.Contains(out, c.want) {
			t.Fatalf("%q: %v: %s", c.args, err, out)
		}
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(key)) {
			t.Errorf("the key is in %s", path)
		}
		return nil
	}))
	k.Lock(t)
	if out, err := run("license", "show"); err == nil || !strings.Contains(out, "unverified") {
		t.Errorf("a locked store: %v: %s", err, out)
	}
}
