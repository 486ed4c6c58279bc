package lists

import (
	"context"

	"hubcli/hub"
)

// Undelivered lists mail that nobody is expected to read, by the id of its recipient; see
// hub.Retirements. It looks at each id that direct messages were ever sent to.
func (s *Lists) Undelivered(ctx context.Context, q hub.UndeliveredQuery) ([]hub.Undelivered, hub.Cursor, error) {
	behind, err := s.cursors.textPlace(listUndelivered, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	p := newPage[hub.Undelivered](q.Limit)
	var failed error
	err = s.rows.Recipients(hub.AgentID(behind), func(agent hub.AgentID) bool {
		var row *hub.Undelivered
		if row, failed = s.undelivered(agent); failed == nil {
			failed = ctx.Err()
		}
		return failed == nil && (row == nil || p.add(*row, []byte(agent)))
	})
	if err == nil {
		err = failed
	}
	return p.end(s.cursors, listUndelivered, err)
}
