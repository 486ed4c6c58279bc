package capsule

import (
	"fmt"

	"hubcli/hub"
)

// Ways out of the refusals of a capsule.
const (
	fixDamaged = "get the file again from where it comes, or export the project again: the hub reads nothing of a capsule that is not whole"
	fixSmaller = "export fewer rooms, or the scope knowledge"
)

// invalid refuses a capsule for what one of its entries is. entry may be empty.
func invalid(entry, format string, args ...any) *hub.Error {
	e := hub.NewError(hub.CodeCapsuleInvalid, inEntry(entry, 0)+fmt.Sprintf(format, args...)).WithFix(fixDamaged)
	if entry != "" {
		e = e.With("entry", shown(entry))
	}
	return e
}

// invalidLine is invalid for a line, counted from 1.
func invalidLine(entry string, line int64, format string, args ...any) *hub.Error {
	return hub.NewError(hub.CodeCapsuleInvalid, inEntry(entry, line)+fmt.Sprintf(format, args...)).
		With("entry", entry).With("line", line).WithFix(fixDamaged)
}

// tooLarge refuses what is beyond a limit of the format.
func tooLarge(message string, limit, size int64) *hub.Error {
	return hub.NewError(hub.CodeCapsuleTooLarge, message).With("limit", limit).With("size", size).WithFix(fixSmaller)
}

func inEntry(entry string, line int64) string {
	switch {
	case entry == "":
		return "the capsule is not valid: "
	case line > 0:
		return fmt.Sprintf("the capsule is not valid: %s, line %d: ", entry, line)
	}
	return fmt.Sprintf("the capsule is not valid: %q: ", shown(entry))
}

// shown bounds a name that a stranger chose.
func shown(name string) string {
	const most = 100 // bytes
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}
