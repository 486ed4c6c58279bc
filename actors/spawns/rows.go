package spawns

import (
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Load makes the state of the owner of spawns from its stored rows.
func Load(rows core.Rows) (*core.Spawns, error) {
	policy, err := Policy(rows)
	if err != nil {
		return nil, err
	}
	stored, err := view.StoredRow[core.LiveSpawns](rows, core.TableSpawnLive, core.SpawnLiveKey())
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	live := make([]hub.Spawn, len(stored.Live))
	for i, id := range stored.Live {
		if live[i], err = Row(rows, id); err != nil {
			return nil, err
		}
	}
	return core.RestoreSpawns(policy, live, stored.Recent), nil
}

// Policy returns what the operator allows.
func Policy(rows core.Rows) (hub.SpawnPolicy, error) {
	value, err := rows.Row(core.TableSpawnPolicy, core.SpawnPolicyKey())
	if errors.Is(err, core.ErrNotFound) {
		return core.NoSpawns(), nil
	}
	if err != nil {
		return hub.SpawnPolicy{}, err
	}
	return core.RestorePolicy(value)
}

// Row returns a stored spawn. spawn_not_found.
func Row(rows core.Rows, id hub.SpawnID) (hub.Spawn, error) {
	key, ok := core.SpawnKey(id)
	if !ok {
		return hub.Spawn{}, errNotFound(id)
	}
	row, err := view.StoredRow[hub.Spawn](rows, core.TableSpawn, key)
	if errors.Is(err, core.ErrNotFound) {
		err = errNotFound(id)
	}
	return row, err
}

func errNotFound(id hub.SpawnID) error {
	return hub.NewError(hub.CodeSpawnNotFound, "there is no such spawn").With("spawn_id", id)
}

// Live lists the spawns that have not ended, sorted by their ids as texts.
func Live(rows core.Rows) ([]hub.Spawn, error) {
	stored, err := view.StoredRow[core.LiveSpawns](rows, core.TableSpawnLive, core.SpawnLiveKey())
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	out := make([]hub.Spawn, 0, len(stored.Live))
	for _, id := range stored.Live {
		row, rowErr := Row(rows, id)
		if rowErr != nil {
			return nil, rowErr
		}
		if !row.Status.Terminal() { // it may have ended between the two looks
			out = append(out, row)
		}
	}
	return out, err
}

// In lists the spawns of a room that have not ended.
func In(rows core.Rows, room hub.RoomID) ([]hub.Spawn, error) {
	live, err := Live(rows)
	out := []hub.Spawn{}
	for _, row := range live {
		if row.RoomID == room {
			out = append(out, row)
		}
	}
	return out, err
}
