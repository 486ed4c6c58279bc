// Package service writes the file by which a service manager of the user starts
// the hub: a unit of systemd, or an agent of launchd. It says exactly which bytes it
// would write, and where.
//
// A file carries a checksum of itself. The package replaces and removes only a file
// whose checksum fits: one that it wrote and that nobody has changed since. It writes
// a file whole or not at all, and runs no program: it says which command makes the
// service manager read the file.
//
// It keeps no state. Two processes that install at the same time leave one of the
// two files.
package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"hubcli/internal/osfile"
)

// Kind is a service manager.
type Kind string

// The service managers.
const (
	Systemd Kind = "systemd"
	Launchd Kind = "launchd"
)

// Kinds lists them all.
func Kinds() []Kind { return []Kind{Systemd, Launchd} }

// KindOf returns the service manager of a system of that GOOS; "" if this package
// knows none.
func KindOf(goos string) Kind {
	switch goos {
	case "linux":
		return Systemd
	case "darwin":
		return Launchd
	}
	return ""
}

// Service is a hub that a service manager is to run.
type Service struct {
	Kind Kind
	Name string            // without suffix, such as hubcli
	Exec []string          // the executable, with its whole path, and its arguments
	Env  map[string]string // added to the environment
}

// State is the state of the file.
type State string

// The states.
const (
	Absent    State = "absent"
	Installed State = "installed" // as an install would write it now
	Outdated  State = "outdated"  // this package wrote it, and would write something else now
	Changed   State = "changed"   // this package wrote it, and somebody has changed it
	Foreign   State = "foreign"   // this package did not write it
)

// ErrNotOurs says that a file was not written by this package, or was changed.
var ErrNotOurs = errors.New("the file is not as hubcli wrote it")

const (
	mark    = "Written by hubcli app service, which removes it if it is unchanged. Checksum: "
	maxFile = 256 << 10
)

// Check refuses what no file can say.
func (s *Service) Check() error {
	words := append([]string{s.Name}, s.Exec...)
	for name, value := range s.Env {
		words = append(words, name, value)
	}
	for _, word := range words {
		if !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsControl) {
			return fmt.Errorf("%q has a control character or is not UTF-8, which the file of a service cannot say", word)
		}
	}
	if len(s.Exec) == 0 || !filepath.IsAbs(s.Exec[0]) {
		return errors.New("the path of the executable is not known")
	}
	if s.Kind == Systemd && strings.ContainsAny(s.Exec[0], `"'\`) {
		return fmt.Errorf("systemd starts no executable with a quote or a backslash in its path: %s", s.Exec[0])
	}
	return nil
}

// Content returns the bytes of the file.
func (s *Service) Content() []byte {
	before, after := s.parts()
	sum := sha256.Sum256([]byte(before + after))
	line := "# " + mark + hex.EncodeToString(sum[:]) + "\n"
	if s.Kind == Launchd {
		line = "<!-- " + mark + hex.EncodeToString(sum[:]) + " -->\n"
	}
	return []byte(before + line + after)
}

// parts returns what stands before and after the line with the checksum.
func (s *Service) parts() (before, after string) {
	if s.Kind == Launchd {
		return s.agent()
	}
	return "", s.unit()
}

// Path returns where the file belongs. home is the user's; getenv may name another
// folder of configuration for systemd.
func (s *Service) Path(home string, getenv func(string) string) string {
	if s.Kind == Launchd {
		return filepath.Join(home, "Library", "LaunchAgents", s.Name+".plist")
	}
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG rules: a relative value counts as unset
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "systemd", "user", s.Name+".service")
}

// Look says in which state the file is.
func (s *Service) Look(path string) (State, error) {
	b, err := osfile.ReadSmall(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Absent, nil
	case errors.Is(err, osfile.ErrNotRegular), errors.Is(err, osfile.ErrTooLong):
		return Foreign, nil
	case err != nil:
		return "", err
	case string(b) == string(s.Content()):
		return Installed, nil
	}
	return stateOf(string(b)), nil
}

// stateOf tells a file of ours from others by its line with the checksum.
func stateOf(text string) State {
	at := strings.Index(text, mark)
	if at < 0 {
		return Foreign
	}
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return Changed
	}
	rest := text[:begin] + text[at+end+1:]
	sum := sha256.Sum256([]byte(rest))
	if !strings.HasPrefix(text[at+len(mark):], hex.EncodeToString(sum[:])) {
		return Changed
	}
	return Outdated
}

// Install writes the file. The error is ErrNotOurs if another file is in its place.
func (s *Service) Install(path string) error {
	state, err := s.Look(path)
	if err != nil || state == Installed {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	content := osfile.Content{Write: osfile.Bytes(s.Content()), Prefix: ".hubcli-", Mode: 0o644, Exactly: true}
	switch state {
	case Absent:
		return osfile.Create(path, content)
	case Outdated:
		return osfile.Replace(osfile.Disk{}, path, content)
	case Installed, Changed, Foreign:
	}
	return ErrNotOurs
}

// Remove removes the file. The error is ErrNotOurs if it is not as this package
// wrote it, and fs.ErrNotExist if there is none.
func (s *Service) Remove(path string) error {
	switch state, err := s.Look(path); {
	case err != nil:
		return err
	case state == Absent:
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	case state == Changed, state == Foreign:
		return ErrNotOurs
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return osfile.SyncDir(filepath.Dir(path))
}

// Enabled reports whether systemd starts the service when the user logs in. launchd
// starts every agent of the folder.
func (s *Service) Enabled(path string) bool {
	if s.Kind == Launchd {
		_, err := os.Lstat(path)
		return err == nil
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), "default.target.wants", s.Name+".service"))
	return err == nil
}

// Enable returns the commands that make the service manager start the hub now and
// at each login, and Disable those that take this back. Each is a list of arguments.
func (s *Service) Enable(path string, uid int) [][]string {
	if s.Kind == Launchd {
		return [][]string{{"launchctl", "bootstrap", fmt.Sprintf("gui/%d", uid), path}}
	}
	return [][]string{
		{"systemctl", "--user", "daemon-reload"},
		{"systemctl", "--user", "enable", "--now", s.Name + ".service"},
	}
}

// Disable returns the commands that end the hub and start it no more.
func (s *Service) Disable(uid int) [][]string {
	if s.Kind == Launchd {
		return [][]string{{"launchctl", "bootout", fmt.Sprintf("gui/%d/%s", uid, s.Name)}}
	}
	return [][]string{{"systemctl", "--user", "disable", "--now", s.Name + ".service"}}
}
