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
	out, n := []hub.Spawn{}, pageRows(q.Limit)
	err = view.LatestRows(s.rows, core.TableSpawn, core.TableSpawnByRoom, q.RoomID, before, func(row hub.Spawn) bool {
		if (q.Status == "" || row.Status == q.Status) && !(q.Active && row.Status.Terminal()) {
			out = append(out, row)
		}
		return len(out) <= n
	})
	out, next := paged(s.cursors, listSpawns, out, n, func(row *hub.Spawn) []byte { return view.IDKey(core.PrefixSpawn, row.SpawnID) })
	return out, next, err
}
