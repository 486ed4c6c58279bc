package service

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// hostile has every character that means something to a service manager.
func hostile(kind Kind) *Service {
	return &Service{
		Kind: kind, Name: "hubcli",
		Exec: []string{`/opt/my hub 100%h/$HOME/<&>/hubcli`, "--storage", `/data/50% of $PATH ${X} <&'"> \n/store`, "--quiet", ""},
		Env:  map[string]string{"HUB_DATA_ROOT": `/data/%u $HOME "x" \ <y>`},
	}
}

func TestUnitIsQuoted(t *testing.T) {
	text := string(hostile(Systemd).Content())
	for _, want := range []string{
		`ExecStart="/opt/my hub 100%%h/$HOME/<&>/hubcli" "--storage" "/data/50%% of $$PATH $${X} <&'\"> \\n/store" "--quiet" ""` + "\n",
		`Environment="HUB_DATA_ROOT=/data/%%u $HOME \"x\" \\ <y>"` + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the unit lacks\n%s\nin\n%s", want, text)
		}
	}
}

// TestUnitIsUnderstood by systemd itself, where it is installed: it finds the
// executable under its hostile path.
func TestUnitIsUnderstood(t *testing.T) {
	analyze := testprogram.Need(t, "systemd-analyze")[0]
	s := hostile(Systemd)
	dir := filepath.Join(t.TempDir(), `my hub $HOME 100%h`)
	s.Exec[0] = filepath.Join(dir, "hubcli")
	require.NoError(t, errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(s.Exec[0], []byte("#!/bin/sh\n"), 0o700)))
	path := filepath.Join(t.TempDir(), "hubcli.service")
	require.NoError(t, s.Install(path))
	runtime := t.TempDir()
	verify := func() (string, error) {
		cmd := exec.Command(analyze, "--user", "verify", path)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtime)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := verify()
	if strings.Contains(out, "Failed to initialize manager") {
		t.Skipf("needs a system that systemd-analyze works on: %s", out)
	}
	if err != nil && strings.Contains(out, "hubcli") || strings.Contains(out, "hubcli.service:") {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
	// It must be able to fail.
	require.NoError(t, os.Remove(s.Exec[0]))
	if out, _ = verify(); !strings.Contains(out, `my hub $HOME 100%h/hubcli is not executable`) {
		t.Errorf("systemd-analyze did not look for the executable:\n%s", out)
	}
}

func TestAgentIsWellFormed(t *testing.T) {
	s := hostile(Launchd)
	var plist struct {
		Dict struct {
			Keys  []string `xml:"key"`
			Array struct {
				Strings []string `xml:"string"`
			} `xml:"array"`
			Dicts []struct {
				Strings []string `xml:"string"`
			} `xml:"dict"`
		} `xml:"dict"`
	}
	require.NoError(t, xml.Unmarshal(s.Content(), &plist))
	if !slices.Equal(plist.Dict.Array.Strings, s.Exec) {
		t.Errorf("ProgramArguments = %q, want %q", plist.Dict.Array.Strings, s.Exec)
	}
	if env := plist.Dict.Dicts[0].Strings; len(env) != 1 || env[0] != s.Env["HUB_DATA_ROOT"] {
		t.Errorf("EnvironmentVariables = %q", env)
	}
	if !slices.Contains(plist.Dict.Keys, "RunAtLoad") || !strings.HasPrefix(string(s.Content()), "<?xml") {
		t.Errorf("the agent is\n%s", s.Content())
	}
}

// TestOnlyOwnFileIsTouched: a file that somebody else wrote or changed stays.
func TestOnlyOwnFileIsTouched(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := hostile(kind)
			path := s.Path(t.TempDir(), func(string) string { return "" })
			state := func(want State) {
				t.Helper()
				if got, err := s.Look(path); got != want || err != nil {
					t.Errorf("the file is %s, %v, want %s", got, err, want)
				}
			}
			state(Absent)
			if err := s.Remove(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Remove of no file: %v", err)
			}
			require.NoError(t, s.Install(path))
			state(Installed)
			require.NoError(t, s.Install(path)) // again: nothing to do

			s.Exec = append(s.Exec, "--port", "7001") // another version of us
			state(Outdated)
			require.NoError(t, s.Install(path))
			state(Installed)

			for what, text := range map[string]string{
				"changed": strings.Replace(string(s.Content()), "7001", "7002", 1), "foreign": "[Service]\nExecStart=/bin/true\n",
				"cut": string(s.Content()[:40]), "empty": "",
			} {
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				if err := s.Install(path); !errors.Is(err, ErrNotOurs) {
					t.Errorf("Install over a file that is %s: %v", what, err)
				}
				if err := s.Remove(path); !errors.Is(err, ErrNotOurs) {
					t.Errorf("Remove of a file that is %s: %v", what, err)
				}
				if b, _ := os.ReadFile(path); string(b) != text {
					t.Errorf("the file that was %s is now %q", what, b)
				}
			}
			require.NoError(t, os.WriteFile(path, s.Content(), 0o600))
			require.NoError(t, s.Remove(path))
			state(Absent)
			if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 0 {
				t.Errorf("%v is left", names)
			}
		})
	}
}

func TestWhatNoFileCanSay(t *testing.T) {
	for _, word := range []string{"/a\nb", "/a\x00", "/a\x7f", "/\xff"} {
		s := &Service{Kind: Systemd, Name: "hubcli", Exec: []string{"/bin/hubcli", word}}
		if s.Check() == nil {
			t.Errorf("%q passes", word)
		}
	}
	if s := (&Service{Kind: Systemd, Name: "hubcli", Exec: []string{"hubcli"}}); s.Check() == nil {
		t.Error("an executable without its whole path passes")
	}
	s := &Service{Kind: Systemd, Name: "hubcli", Exec: []string{`/my "hub"/hubcli`}}
	if s.Check() == nil {
		t.Error("an executable passes that systemd refuses")
	}
	if s.Kind = Launchd; s.Check() != nil {
		t.Error("launchd starts it, and it does not pass")
	}
}
