package core

import (
	"cmp"

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

// AllowUser decides that a user is let in. One who is already keeps the time of that. Errors:
// limit_reached.
func (s *Settings) AllowUser(user hub.LocalUser, now Now) (Decision[hub.AllowedUser], error) {
	row, held := s.Users.For(user.ID)
	if held && row.LocalUser == user {
		return answering(row), nil
	}
	if !held {
		if err := s.Users.full(hub.MaxUsers, "%d users of the machine are let in, and there cannot be more", "refuse those who need not be let in any more"); err != nil {
			return Decision[hub.AllowedUser]{}, err
		}
		row.AllowedAt = now.Wall
	}
	row.LocalUser = user
	return answering(row, &UserAllowed{User: row}), nil
}

// RefuseUser decides that a user is let in no longer. Error: user_not_allowed.
func (s *Settings) RefuseUser(user hub.LocalUser) (Decision[hub.AllowedUser], error) {
	row, held := s.Users.For(user.ID)
	if !held {
		return Decision[hub.AllowedUser]{}, hub.Errorf(hub.CodeUserNotAllowed, "the user %s is not let in", user.Name).With("user", user.Name)
	}
	return answering(row, &UserRefused{ID: user.ID}), nil
}

func userKey(id string) []byte { return []byte(id) }

func usersByName(a, b *hub.AllowedUser) int { return cmp.Compare(a.Name, b.Name) }

func (s *Settings) applyUser(f Fact, rows RowSink) {
	switch f := f.(type) {
	case *UserAllowed:
		s.Users.set(f.User, rows)
	case *UserRefused:
		s.Users.end(f.ID, rows)
	}
}
