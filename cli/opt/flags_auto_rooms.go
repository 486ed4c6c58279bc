package opt

import (
	"strings"

	"github.com/spf13/pflag"

	"hubcli/cli/term"
)

// envAutoRooms is the variable that replaces --no-auto-rooms where a hub is started without a
// command line of a person, as by a bridge.
const envAutoRooms = "HUB_AUTO_ROOMS"

// AddNoAutoRooms adds --no-auto-rooms.
func AddNoAutoRooms(f *pflag.FlagSet, no *bool) {
	f.BoolVar(no, "no-auto-rooms", false, "make no room for the repository of an agent that needs one and is in none; also "+envAutoRooms+"=off")
}

// AutoRoomsOff reports whether the environment turns them off. Any word but off, no, false and 0
// would be a mistake that nobody sees, so it is refused.
func AutoRoomsOff(env *term.Env) (bool, error) {
	switch word := strings.ToLower(strings.TrimSpace(env.Getenv(envAutoRooms))); word {
	case "", "on", "yes", "true", "1":
		return false, nil
	case "off", "no", "false", "0":
		return true, nil
	default:
		return false, term.Usage("set it to on or off, or unset it", "%s in the environment is neither on nor off: %q", envAutoRooms, word)
	}
}
