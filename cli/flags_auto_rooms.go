package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// envAutoRooms is the variable that replaces --no-auto-rooms where a hub is started without a
// command line of a person, as by a bridge.
const envAutoRooms = "HUB_AUTO_ROOMS"

// addNoAutoRooms adds --no-auto-rooms.
func addNoAutoRooms(f *pflag.FlagSet, no *bool) {
	f.BoolVar(no, "no-auto-rooms", false, "make no room for the repository of an agent that needs one and is in none; also "+envAutoRooms+"=off")
}

// autoRoomsOff reports whether the environment turns them off. Any word but off, no, false and 0
// would be a mistake that nobody sees, so it is refused.
func autoRoomsOff(env *Env) (bool, error) {
	switch word := strings.ToLower(strings.TrimSpace(env.Getenv(envAutoRooms))); word {
	case "", "on", "yes", "true", "1":
		return false, nil
	case "off", "no", "false", "0":
		return true, nil
	default:
		return false, usage("set it to on or off, or unset it", "%s in the environment is neither on nor off: %q", envAutoRooms, word)
	}
}
