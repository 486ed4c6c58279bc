package lists

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Spawns lists spawns, newest first; see hub.Spawns.
func (s *Lists) Spawns(_ context.Context, q hub.SpawnsQuery) ([]hub.Spawn, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := s.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	before, err := s.cursors.beforeSeq(listSpawns, q.Cursor, core.PrefixSpawn, string(q.Before))
	if err != nil {
		return nil, "", err
	}
	p := newPage[hub.Spawn](q.Limit)
	err = view.LatestRows(s.rows, core.TableSpawn, core.TableSpawnByRoom, q.RoomID, before, func(row hub.Spawn) bool {
		keeps := (q.Status == "" || row.Status == q.Status) && !(q.Active && row.Status.Terminal())
		return !keeps || p.add(row, view.IDKey(core.PrefixSpawn, row.SpawnID))
	})
	return p.end(s.cursors, listSpawns, err)
}
