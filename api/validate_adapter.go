package api

import (
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// ValidateAdapter checks the scope and path of a change. It does not check that
// the harness has the scope or that the folder exists.
func ValidateAdapter(in *hub.AdapterInput) error {
	switch in.Scope {
	case "", hub.AdapterGlobal, hub.AdapterProject:
	default:
		return hub.Invalid("scope", "there is no such scope").WithFix("use global or project")
	}
	switch {
	case len(in.Path) > hub.MaxPathBytes:
		return hub.Invalid("path", "the path is too long").With("limit", hub.MaxPathBytes).With("size", len(in.Path))
	case !utf8.ValidString(in.Path) || strings.ContainsRune(in.Path, 0):
		return hub.Invalid("path", "the path is not valid UTF-8 text")
	case in.Path != "" && in.Scope == hub.AdapterGlobal:
		return hub.Invalid("path", "the scope global has no path").WithFix("leave path out, or use the scope project")
	}
	if err := checkBounds(in); err != nil {
		return err
	}
	return CheckSearchPath("search_path", in.SearchPath)
}
