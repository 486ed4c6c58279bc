package core

import (
	"cmp"
	"encoding/json"
	"slices"

	"hubcli/hub"
)

// UserAllowed says that the operator lets another user of the machine in.
type UserAllowed struct {
	User hub.AllowedUser `json:"user"`
}

// UserRefused says that the operator has taken that back.
type UserRefused struct {
	ID string `json:"id"`
}

// FactType implements Fact.
func (*UserAllowed) FactType() FactType { return factUserAllowed }

// FactType implements Fact.
func (*UserRefused) FactType() FactType { return factUserRefused }

// RestoreUser adds a stored row to a state that is being loaded. An empty value is a user who
// is refused again.
func (s *Settings) RestoreUser(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var row hub.AllowedUser
	if json.Unmarshal(value, &row) != nil {
		return hub.NewError(hub.CodeCorruptRecord, "the stored row of a user cannot be read")
	}
	s.users[row.ID] = row
	return nil
}

// AllowUser decides that a user is let in. One who is already keeps the time of that. Errors:
// limit_reached.
func (s *Settings) AllowUser(user hub.LocalUser, now Now) (Decision[hub.AllowedUser], error) {
	row, held := s.users[user.ID]
	if held && row.LocalUser == user {
		return Decision[hub.AllowedUser]{Answer: func(Position) hub.AllowedUser { return row }}, nil
	}
	if !held && len(s.users) >= hub.MaxUsers {
		return Decision[hub.AllowedUser]{}, hub.Errorf(hub.CodeLimitReached, "%d users of the machine are let in, and there cannot be more", hub.MaxUsers).
			With("limit", hub.MaxUsers).WithFix("refuse those who need not be let in any more")
	}
	if !held {
		row.AllowedAt = now.Wall
	}
	row.LocalUser = user
	return Decision[hub.AllowedUser]{
		Draft:  Draft{Facts: []Fact{&UserAllowed{User: row}}},
		Answer: func(Position) hub.AllowedUser { return row },
	}, nil
}

// RefuseUser decides that a user is let in no longer. Error: user_not_allowed.
func (s *Settings) RefuseUser(user hub.LocalUser) (Decision[hub.AllowedUser], error) {
	row, held := s.users[user.ID]
	if !held {
		return Decision[hub.AllowedUser]{}, hub.Errorf(hub.CodeUserNotAllowed, "the user %s is not let in", user.Name).With("user", user.Name)
	}
	return Decision[hub.AllowedUser]{
		Draft:  Draft{Facts: []Fact{&UserRefused{ID: user.ID}}},
		Answer: func(Position) hub.AllowedUser { return row },
	}, nil
}

// SortedUsers returns users in the order of their names.
func SortedUsers(held map[string]hub.AllowedUser) []hub.AllowedUser {
	all := make([]hub.AllowedUser, 0, len(held))
	for _, row := range held {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b hub.AllowedUser) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func (s *Settings) applyUser(f Fact, rows RowSink) {
	switch f := f.(type) {
	case *UserAllowed:
		s.users[f.User.ID] = f.User
		rows.Put(TableUser, []byte(f.User.ID), mustJSON(f.User))
	case *UserRefused:
		delete(s.users, f.ID)
		rows.Put(TableUser, []byte(f.ID), nil)
	}
}
