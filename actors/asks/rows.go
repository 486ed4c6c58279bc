package asks

import (
	"errors"

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
	open, err := openRows(rows)
	return core.RestoreAsks(permissions, open), err
}

// openRows returns the stored rows of the open questions.
func openRows(rows core.Rows) ([]core.StoredAsk, error) {
	stored, err := view.StoredRow[core.OpenAsks](rows, core.TableAskOpen, core.AskOpenKey())
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	open := make([]core.StoredAsk, len(stored.Open))
	for i, id := range stored.Open {
		if open[i], err = row(rows, id); err != nil {
			return nil, err
		}
	}
	return open, nil
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
