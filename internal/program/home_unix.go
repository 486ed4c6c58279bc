//go:build unix

package program

import (
	"os"
	"os/user"
	"strconv"
)

// TakeHome sets HOME to what the user database says, if it is not set. Some MCP clients start
// their servers with an empty environment.
func TakeHome() {
	if os.Getenv("HOME") != "" {
		return
	}
	me, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || me.HomeDir == "" {
		return
	}
	_ = os.Setenv("HOME", me.HomeDir) // commands say so if they miss it
}
