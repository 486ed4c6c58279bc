//go:build linux

package credstore

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testkeyring"
)

// TestSecretService keeps secrets in a real gnome-keyring over a real bus, and another
// program finds them there.
func TestSecretService(t *testing.T) {
	k := testkeyring.Start(t)
	t.Setenv(busVariable, k.Address)
	var s Store
	r := Ref{OS, "ab12/conn_1"}
	if _, err := s.Get(t.Context(), r); KindOf(err) != NotFound {
		t.Fatalf("an empty store: %v", err)
	}
	for _, secret := range []string{"sk-1", "two\nlines, ä and \x01", strings.Repeat("x", maxSecret)} {
		require.NoError(t, s.Set(t.Context(), r, secret))
		if got, err := s.Get(t.Context(), r); err != nil || got != secret {
			t.Errorf("%.40q: %.40q %v", secret, got, err)
		}
		if got, err := k.Lookup("hubcli", r.Name); err != nil || got != secret {
			t.Errorf("another program finds %.40q: %v", got, err)
		}
	}
	require.NoError(t, s.Delete(t.Context(), r))
	require.NoError(t, s.Delete(t.Context(), r))
	if _, err := s.Get(t.Context(), r); KindOf(err) != NotFound {
		t.Errorf("after the end: %v", err)
	}
	if _, err := k.Lookup("hubcli", r.Name); err == nil {
		t.Error("another program still finds it")
	}
}

// TestALockedSecretService: a collection whose password nobody can be asked for is told as
// locked, and never waited for.
func TestALockedSecretService(t *testing.T) {
	k := testkeyring.Start(t)
	t.Setenv(busVariable, k.Address)
	var s Store
	r := Ref{OS, "conn_1"}
	require.NoError(t, s.Set(t.Context(), r, "sk-1"))
	k.Lock(t)
	if _, err := s.Get(t.Context(), r); KindOf(err) != Locked {
		t.Errorf("a locked collection is read: %v", err)
	}
	if err := s.Set(t.Context(), r, "sk-2"); KindOf(err) != Locked {
		t.Errorf("a locked collection is written: %v", err)
	}
}

// TestAKeyringWithoutAPassword: the bus starts a keyring that nobody has opened, as on a
// server with the packages of a desktop.
func TestAKeyringWithoutAPassword(t *testing.T) {
	k := testkeyring.StartBus(t)
	t.Setenv(busVariable, k.Address)
	var s Store
	if err := s.Set(t.Context(), Ref{OS, "conn_1"}, "sk-1"); KindOf(err) != Locked && KindOf(err) != NoStore {
		t.Errorf("%v, want locked or no store", err)
	} else {
		t.Log(err)
	}
}

// TestNoSecretService: a bus without a keyring, a bus that is gone, and a session without a
// bus have no store. No program is started to look for one.
func TestNoSecretService(t *testing.T) {
	var s Store
	r := Ref{OS, "conn_1"}
	t.Run("a bus that is gone", func(t *testing.T) {
		t.Setenv(busVariable, "unix:path="+filepath.Join(t.TempDir(), "none"))
		if err := s.Set(t.Context(), r, "sk-1"); KindOf(err) != NoStore {
			t.Errorf("%v", err)
		}
	})
	t.Run("no bus", func(t *testing.T) {
		if busIn(filepath.Join("/run/user", strconv.Itoa(os.Getuid()))) {
			t.Skip("needs a session without a bus")
		}
		started := filepath.Join(t.TempDir(), "started")
		tools := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(tools, "dbus-launch"), []byte("#!/bin/sh\ntouch '"+started+"'\n"), 0o700))
		t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
		for _, address := range []string{"", "autolaunch:"} {
			t.Setenv(busVariable, address)
			if err := s.Set(t.Context(), r, "sk-1"); KindOf(err) != NoStore {
				t.Errorf("%q: %v", address, err)
			}
		}
		if _, err := os.Stat(started); err == nil {
			t.Error("a message bus was started")
		}
	})
}

func TestBusIn(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "DBUS_SESSION_BUS_ADDRESS=": false, "DBUS_SESSION_BUS_ADDRESS=\n": false,
		"DBUS_SESSION_BUS_ADDRESS=unix:abstract=x\n": true, "something else": false,
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "dbus-session"), []byte(text), 0o600))
		if got := busIn(dir); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bus"), nil, 0o600))
	if !busIn(dir) || busIn(t.TempDir()) {
		t.Error("the socket of a bus decides")
	}
}
