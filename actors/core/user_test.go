package core_test

import (
	"encoding/json"
	"maps"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestUsersAreTheirRows: after any choices the users who are let in are those of the rows, and
// a choice that changes nothing writes no fact.
func TestUsersAreTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, rows, want := core.NewSettings(), map[string]string{}, map[string]string{}
		var at core.Position
		for range rapid.IntRange(1, 30).Draw(t, "choices") {
			n := rapid.IntRange(1000, 1003).Draw(t, "user")
			user := hub.LocalUser{ID: strconv.Itoa(n), Name: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "name")}
			at.Seq++
			at.Now.Wall++
			var d core.Decision[hub.AllowedUser]
			var err error
			if rapid.Bool().Draw(t, "allow") {
				d, err = live.AllowUser(user, at.Now)
				require.NoError(t, err)
				if d.Empty() != (want[user.ID] == user.Name) {
					t.Fatalf("letting in %+v beside %v gives %d facts", user, want, len(d.Facts))
				}
				want[user.ID] = user.Name
			} else {
				if d, err = live.RefuseUser(user); (err != nil) != (want[user.ID] == "") {
					t.Fatalf("refusing %+v beside %v: %v", user, want, err)
				}
				delete(want, user.ID)
			}
			for _, f := range d.Facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				require.NoError(t, err)
				live.Apply(decoded, at, func(r core.Row) { rows[string(r.Key)] = string(r.Value) })
			}
		}
		maps.DeleteFunc(rows, func(_, row string) bool { return row == "" })
		got, loaded := map[string]string{}, core.NewSettings()
		for id, row := range rows {
			var u hub.AllowedUser
			require.NoError(t, json.Unmarshal([]byte(row), &u))
			require.NoError(t, loaded.Users.Restore([]byte(row)))
			got[id] = u.Name
		}
		if !maps.Equal(got, want) {
			t.Fatalf("the rows say %v, want %v", got, want)
		}
		for id, name := range want {
			if d, err := loaded.AllowUser(hub.LocalUser{ID: id, Name: name}, at.Now); err != nil || !d.Empty() {
				t.Fatalf("%s is not loaded", id)
			}
		}
	})
}

// TestUsersAreLimited: there are at most so many, and the one more is told what to do.
func TestUsersAreLimited(t *testing.T) {
	s := core.NewSettings()
	for n := range hub.MaxUsers {
		d, err := s.AllowUser(hub.LocalUser{ID: strconv.Itoa(n), Name: "u"}, core.Now{})
		require.NoError(t, err)
		for _, f := range d.Facts {
			s.Apply(f, core.Position{}, func(core.Row) {})
		}
	}
	if _, err := s.AllowUser(hub.LocalUser{ID: "x"}, core.Now{}); codeOf(err) != hub.CodeLimitReached {
		t.Errorf("one more: %v", err)
	}
	if err := s.Users.Restore([]byte("{")); codeOf(err) != hub.CodeCorruptRecord {
		t.Errorf("a row that is none: %v", err)
	}
}
