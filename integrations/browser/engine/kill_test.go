//go:build unix

package engine

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hubcli/internal/require"
)

// Variables of the process that TestInstallSurvivesKills kills.
const (
	killAt   = "ENGINE_TEST_KILL_AT"
	killRoot = "ENGINE_TEST_ROOT"
	killSite = "ENGINE_TEST_SITE"
	killCA   = "ENGINE_TEST_CA"
	killPins = "ENGINE_TEST_PINS"
)

func init() { dieInstalling = installAndDie }

// installAndDie installs until a step and kills its own process there.
func installAndDie() int {
	ca, err := os.ReadFile(os.Getenv(killCA))
	if err != nil {
		return 2
	}
	data, err := os.ReadFile(os.Getenv(killPins))
	if err != nil {
		return 2
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	die := func(at string) {
		if at == os.Getenv(killAt) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	in := &Installer{
		Options: Options{
			DataRoot: os.Getenv(killRoot), GOOS: "linux", GOARCH: "amd64", Pins: pinsOf(data), wait: patience,
			Getenv: variablesOf(map[string]string{EnvMirror: os.Getenv(killSite)}),
		},
		RootCAs: roots, step: die,
		Progress: func(p Progress) { die(string(p.Stage)) },
	}
	if _, err := in.Install(context.Background()); err != nil {
		return 1
	}
	return 0
}

// TestInstallSurvivesKills kills a process at every step of an install. At no time is there
// anything but a whole engine under the engine's name, and the next install ends well and
// leaves nothing of the killed one.
func TestInstallSurvivesKills(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	dir := t.TempDir()
	ca, pins := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "archive.zip")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	require.NoError(t, os.WriteFile(pins, data, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	for _, tt := range []struct {
		step    string
		damaged bool // there is an engine that must be replaced
		there   bool // whether the engine has its name when the process dies
	}{
		{step: "clean"},
		{step: "download"},
		{step: string(Downloading)},
		{step: "unpack"},
		{step: string(Unpacking)},
		{step: "check"},
		{step: "publish"},
		{step: "published", there: true},
		{step: "remove part", there: true},
		{step: "remove others", there: true},
		{step: "publish again", damaged: true},
	} {
		t.Run(tt.step, func(t *testing.T) {
			root := t.TempDir()
			in := s.installer(root, pinsOf(data))
			pin := in.Pins.Versions[0].Archives["linux64"]
			if tt.damaged {
				_, err := in.Install(t.Context())
				require.NoError(t, err)
				require.NoError(t, os.Remove(filepath.Join(folderOf(root), pin.name(), "ABOUT")))
			}
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), killAt+"="+tt.step, killRoot+"="+root, killSite+"="+s.URL+"/mirror", killCA+"="+ca, killPins+"="+pins)
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the process ended with %v, want SIGKILL", err)
			}
			_, err = os.Lstat(executable(root, pin))
			if (err == nil) != tt.there {
				t.Errorf("the engine has its name: %v, want %v", err == nil, tt.there)
			}
			if err == nil {
				require.NoError(t, verify(root, pin))
			}
			// A kill while an engine is removed leaves it under the name that it has then.
			old := filepath.Join(folderOf(root), oldPrefix+"1")
			require.NoError(t, os.MkdirAll(old, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(old, "ABOUT"), nil, 0o600))
			done, err := in.Install(t.Context())
			require.NoError(t, err)
			if !done.Usable {
				t.Errorf("after that it cannot be used: %s", done.Reason)
			}
			equal(t, tree(t, folderOf(root)), whole)
		})
	}
	if ranges := s.seen(); !slices.ContainsFunc(ranges, func(r string) bool { return strings.HasPrefix(r, "bytes=") }) {
		t.Errorf("no install went on with the part of a killed one: %q", ranges)
	}
}
