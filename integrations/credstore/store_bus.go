//go:build linux || netbsd || openbsd

package credstore

import (
	"errors"
	"io"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/godbus/dbus/v5"
)

// maxSecret is the largest number of bytes of a secret. The Secret Service takes more;
// a key that long is a mistake.
const maxSecret = 16 << 10

// busVariable holds the address of the session's message bus.
const busVariable = "DBUS_SESSION_BUS_ADDRESS"

// whyNone says why there can be no Secret Service. The library would start a message bus
// of its own if it found none, so it is asked only where it finds one.
func whyNone() string {
	if address := os.Getenv(busVariable); address != "" && address != "autolaunch:" {
		return ""
	}
	me, err := user.Current()
	if err == nil && busIn(filepath.Join("/run/user", me.Uid)) {
		return ""
	}
	return "this session has no message bus (" + busVariable + " is not set), as is usual on a server or in a container"
}

// busIn reports whether a runtime folder names a bus, in one of the two ways that the
// library understands.
func busIn(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
		return true
	}
	text, err := os.ReadFile(filepath.Join(dir, "dbus-session"))
	return err == nil && strings.HasPrefix(string(text), busVariable+"=") && len(strings.TrimSpace(string(text))) > len(busVariable)+1
}

// classify recognizes what the bus and the Secret Service say.
func classify(err error) (Kind, string) {
	var said dbus.Error
	if errors.As(err, &said) {
		switch said.Name {
		case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
			"org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownObject":
			return NoStore, "the message bus of this session has no Secret Service"
		case "org.freedesktop.Secret.Error.IsLocked":
			return Locked, "its collection is not open"
		case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
			return Locked, "it does not answer"
		}
		if strings.HasPrefix(said.Name, "org.freedesktop.DBus.Error.Spawn.") {
			return NoStore, "the Secret Service of this session does not start"
		}
		return Failed, ""
	}
	if strings.HasPrefix(err.Error(), "failed to unlock correct collection") {
		return Locked, "it has no collection that opens without a password"
	}
	var dial *net.OpError
	if errors.As(err, &dial) || errors.Is(err, dbus.ErrClosed) || errors.Is(err, io.EOF) {
		return NoStore, "the message bus of this session cannot be reached"
	}
	return Failed, ""
}
