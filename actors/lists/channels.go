package lists

import (
	"cmp"
	"context"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Channels lists channels by name; see hub.Channels. They are of three kinds: those
// that always exist, those that were made and those of rooms.
func (s *Lists) Channels(_ context.Context, q hub.ChannelsQuery) ([]hub.Channel, hub.Cursor, error) {
	behind, err := s.cursors.textPlace(listChannels, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	p := newPage[hub.Channel](q.Limit)
	keeps := func(c *hub.Channel) bool {
		return string(c.Name) > behind && strings.HasPrefix(string(c.Name), q.Prefix) && (q.CreatedBy == "" || c.CreatedBy == q.CreatedBy) &&
			(q.Archived || !c.Archived)
	}
	found := view.Firsts[hub.Channel]{N: p.limit() + 1, Compare: func(a, b hub.Channel) int { return cmp.Compare(a.Name, b.Name) }}
	add := func(c hub.Channel) {
		if keeps(&c) {
			found.Add(c)
		}
	}
	add(view.BuiltinChannel(hub.DirectChannel))
	add(view.BuiltinChannel(hub.DefaultChannel))
	s.view.Places.Rooms("", func(room *hub.Room) { add(view.RoomChannel(room)) })
	stored := fit{limit: p.limit()} // what comes behind these is on no page that begins here
	err = view.ReadRows(s.rows, core.TableChannel, []byte(q.Prefix), []byte(behind), false, func(_ []byte, c hub.Channel) bool {
		if !keeps(&c) {
			return true
		}
		found.Add(c)
		return stored.takes(&c)
	})
	for _, c := range found.Sorted() {
		if !p.add(c, []byte(c.Name)) {
			break
		}
	}
	return p.end(s.cursors, listChannels, err)
}
