package view

import "hubcli/hub"

// UserAllowed reports whether the user of this ID is let in.
func (v *View) UserAllowed(id string) bool { return v.users.first(nil, id) != nil }

// Users lists who is let in, in the order of their names.
func (v *View) Users() []hub.AllowedUser { return v.users.list(nil) }
