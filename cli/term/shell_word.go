package term

import (
	"hubcli/hub"
	"hubcli/internal/lazy"
)

// PlainValue is what may stand in a command line of any shell without quotes. A shell
// inserts a value into its user's command line, and agents choose the names.
var PlainValue = lazy.Regexp{Pattern: `^[\pL\pN][\pL\pN._@:+/,-]*$`}

// TypedRef is how a command that is suggested names a connection.
func TypedRef(label string, id hub.ConnectionID) string {
	if PlainValue.MatchString(label) {
		return label
	}
	return string(id)
}
