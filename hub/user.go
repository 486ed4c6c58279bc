package hub

import (
	"context"
	"net/http"
)

// Limits of the users of the machine.
const (
	MaxUsers        = 100 // users that the operator has let in
	MaxRefusedUsers = 100 // users that the hub has refused since it started, and remembers
	MaxUserChars    = 256 // of a name or a number
)

// CodeOtherUser refuses a call of another user of the machine. The user of the hub is in
// detail.hub_user, that of the call in detail.user.
var CodeOtherUser = define(CodeInfo{
	Code: "other_user", Status: http.StatusForbidden, Repeat: RepeatNever, Operator: true,
	HTTP:  "start a hub of your own, or ask the hub's user to let you in: hubcli app users allow, with your name",
	CLI:   "start a hub of your own with hubcli ensure, or ask the hub's user to let you in: hubcli app users allow, with your name",
	Model: "tell your user these words: they can start a hub of their own, or have the hub's user let them in",
})

// CodeUserNotFound refuses a name that the hub's machine does not know.
var CodeUserNotFound = define(CodeInfo{
	Code: "user_not_found", Status: http.StatusNotFound, Operator: true,
	HTTP: "name an account of the hub's machine, or its number, which id -u tells",
	CLI:  "name an account of the hub's machine, or its number, which id -u tells",
})

// CodeUserNotAllowed refuses to take back what was not given.
var CodeUserNotAllowed = define(CodeInfo{
	Code: "user_not_allowed", Status: http.StatusNotFound, Operator: true,
	HTTP: "GET /v1/users lists whom the operator has let in",
	CLI:  "hubcli app users list shows whom you have let in",
})

// LocalUser is an account of the hub's machine.
//
// API: An account of the hub's machine.
type LocalUser struct {
	ID   string `json:"id" bounds:"..256 runes"`   // Its number, on Windows its SID; empty: it is not known.
	Name string `json:"name" bounds:"..256 runes"` // The id where the machine knows no name.
}

// AllowedUser is another user of the machine whom the operator has let in: its programs are
// agents like those of the hub's own user, but start no processes and learn of no folders.
//
// API: Another user of the machine whom the operator has let in.
type AllowedUser struct {
	LocalUser
	AllowedAt Time `json:"allowed_at"`
}

// RefusedUser is another user of the machine whose connections the hub refuses.
//
// API: Another user of the machine whose connections the hub refuses.
type RefusedUser struct {
	LocalUser
	Connections int64 `json:"connections" bounds:"1.."` // Since the hub started.
	LastAt      Time  `json:"last_at"`
}

// LocalUsers says whose calls the hub takes on its own machine: those of its own user, of the
// superuser and of those that are let in.
//
// API: Whose calls the hub takes on its own machine: those of its own user, of the superuser and of those that
// are let in.
type LocalUsers struct {
	// How the system tells whose a connection over loopback is. Empty: it does not, and the calls of all users are
	// taken.
	Told    string        `json:"told"`
	Why     string        `json:"why"`                          // Why it does not tell.
	Own     LocalUser     `json:"own"`                          // The user of the hub.
	Allowed []AllowedUser `json:"allowed" bounds:"..100 items"` // In the order of their names.
	Refused []RefusedUser `json:"refused" bounds:"..100 items"` // Since the hub started, the latest first.
}

// UserInput names an account of the hub's machine by its name or its number.
type UserInput struct {
	User string `json:"user" bounds:"name 1..MaxUserChars"` // The name of an account of the hub's machine, or its number.
}

// Users lets other users of the machine in. All calls are the operator's.
type Users interface {
	// AllowedUsers lists whom the operator has let in, in the order of their names.
	AllowedUsers(ctx context.Context) ([]AllowedUser, error)
	// AllowUser lets a user in. Errors: limit_reached.
	AllowUser(ctx context.Context, user LocalUser) (Outcome[AllowedUser], error)
	// RefuseUser takes that back. Errors: user_not_allowed.
	RefuseUser(ctx context.Context, user LocalUser) (Outcome[AllowedUser], error)
}
