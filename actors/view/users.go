package view

import (
	"encoding/json"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// users shows which other users of the machine the operator has let in. Every call of such a
// user asks it.
type users struct {
	mu   sync.RWMutex
	held map[string]hub.AllowedUser // by ID
}

func newUsers() *users { return &users{held: map[string]hub.AllowedUser{}} }

// apply takes a committed row.
func (u *users) apply(key, value []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var row hub.AllowedUser
	if json.Unmarshal(value, &row) != nil {
		delete(u.held, string(key))
		return
	}
	u.held[row.ID] = row
}

// RestoreUsers takes the stored rows at a start.
func (v *View) RestoreUsers() error {
	return v.rows.RowsOf(core.TableUser, nil, false, func(key, value []byte) bool {
		v.users.apply(key, value)
		return true
	})
}

// UserAllowed reports whether the user of this ID is let in.
func (v *View) UserAllowed(id string) bool {
	v.users.mu.RLock()
	defer v.users.mu.RUnlock()
	_, held := v.users.held[id]
	return held
}

// Users lists who is let in, in the order of their names.
func (v *View) Users() []hub.AllowedUser {
	v.users.mu.RLock()
	defer v.users.mu.RUnlock()
	return core.SortedUsers(v.users.held)
}
