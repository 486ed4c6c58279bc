package asks

import (
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Load makes the state of the owner of questions from its stored rows.
func Load(rows core.Rows) (*core.Asks, error) {
	permissions, err := core.LoadPermissions(rows)
	if err != nil {
		return nil, err
	}
	live, err := liveRows(rows)
	return core.RestoreAsks(permissions, live), err
}

// Stopped returns the questions about agents that may not post to each other.
func Stopped(rows core.Rows) ([]core.StoredAsk, error) {
	live, err := liveRows(rows)
	return slices.DeleteFunc(live, func(row core.StoredAsk) bool { return row.Loop == nil }), err
}

// liveRows returns the stored rows of the questions that are open, and of those that keep
// agents apart.
func liveRows(rows core.Rows) ([]core.StoredAsk, error) {
	stored, err := view.StoredRow[core.OpenAsks](rows, core.TableAskOpen, core.AskOpenKey())
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	ids := slices.Concat(stored.Open, stored.Apart)
	live := make([]core.StoredAsk, len(ids))
	for i, id := range ids {
		if live[i], err = row(rows, id); err != nil {
			return nil, err
		}
	}
	return live, nil
}

// row returns a stored question. Error: ask_not_found.
func row(rows core.Rows, id hub.AskID) (core.StoredAsk, error) {
	key, ok := core.AskKey(id)
	if !ok {
		return core.StoredAsk{}, errNotFound(id)
	}
	found, err := view.StoredRow[core.StoredAsk](rows, core.TableAsk, key)
	if errors.Is(err, core.ErrNotFound) {
		err = errNotFound(id)
	}
	return found, err
}

func errNotFound(id hub.AskID) error {
	return hub.NewError(hub.CodeAskNotFound, "there is no such question").With("ask_id", id)
}

// Open returns the questions that are open, the oldest first.
func (s *Asks) Open() ([]core.StoredAsk, error) {
	live, err := liveRows(s.rows)
	return slices.DeleteFunc(live, func(row core.StoredAsk) bool { return row.Ask.State != hub.AskOpen }), err
}

// Stored returns a question, open or closed. Error: ask_not_found.
func (s *Asks) Stored(id hub.AskID) (core.StoredAsk, error) { return row(s.rows, id) }
