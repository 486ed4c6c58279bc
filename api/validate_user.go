package api

import "hubcli/hub"

// ValidateUser checks how a user of the machine is named.
func ValidateUser(in *hub.UserInput) error {
	if in.User == "" {
		return hub.Invalid("user", "no user is named").WithFix("name an account of the hub's machine, or its number")
	}
	return checkBounds(in)
}
