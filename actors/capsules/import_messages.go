package capsules

import (
	"iter"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/capsule"
	"hubcli/hub"
)

// threadsAndMessages stages the messages of all rooms in the order of their numbers, so that
// they lie together on the disk as they did, and then the summaries of their threads.
func (s *staging) threadsAndMessages() error {
	if s.src.Manifest().Counts.Messages == 0 {
		return nil
	}
	merge, err := s.openRooms()
	defer merge.close()
	if err != nil {
		return err
	}
	threads := view.NewThreadParts()
	last := capsule.Number(0)
	for {
		m, room, err := merge.next()
		if err != nil {
			return err
		}
		if m == nil {
			break
		}
		if m.ID != last+1 && len(s.messages) > 0 {
			if err := s.flush(); err != nil {
				return err
			}
		}
		last = m.ID
		row, err := s.messageRow(m, room)
		if err != nil {
			return err
		}
		threads.Add(&row)
		s.messages = append(s.messages, row)
		if s.bytes += len(row.JSON); s.bytes >= batchBytes || len(s.messages) >= batchRows {
			if err := s.flush(); err != nil {
				return err
			}
		}
		if err := s.step(); err != nil {
			return err
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	threads.Rows(s.put)
	return s.failed
}

// messageRow returns the row of a message.
func (s *staging) messageRow(m *capsule.Message, room hub.RoomID) (core.StoredMessage, error) {
	id, ok := s.message(m.ID)
	if !ok {
		return core.StoredMessage{}, errChanged("a message has no number of its own")
	}
	d := core.MessageDraft{
		From: s.agent(m.From), To: s.agent(m.To), Channel: room.Channel(), Kind: m.Kind, Body: s.texts.text(m.Body),
		Thread: s.thread(m.Thread), Metadata: s.texts.metadata(m.Metadata), Room: room,
		Authority: hub.AuthorityAgent, Assurance: hub.AssuranceAsserted,
		Imported: &hub.ImportedAs{Authority: m.Authority, Assurance: m.Assurance},
	}
	if m.To != "" {
		d.Channel = hub.DirectChannel
		if m.Channel != "" {
			d.Channel = hub.ChannelName(s.texts.text(string(m.Channel)))
		}
	}
	for _, a := range m.Attachments {
		d.Attachments = append(d.Attachments, s.texts.attachment(a))
	}
	if at := s.optional(m.ReplyTo); at != nil {
		d.ReplyTo = *at
	}
	if at := s.optional(m.ParentTask); at != nil {
		d.Parent = *at
	}
	return d.Encode(id, m.TS), nil
}

// A merge gives the messages of several rooms in the order of their numbers.
type merge struct {
	rooms []*roomMessages // a heap by the number of the next message
	given bool            // the message of the first room was given, and the next is to be read
}

// roomMessages are the messages of one room that are still to come.
type roomMessages struct {
	id   hub.RoomID
	at   *capsule.Message
	next func() (*capsule.Message, error, bool)
	stop func()
}

// openRooms begins to read the messages of all rooms.
func (s *staging) openRooms() (*merge, error) {
	m := &merge{}
	err := s.src.Rooms(func(r *capsule.Room) error {
		id, err := s.room(r.ID)
		if err != nil {
			return err
		}
		one := &roomMessages{id: id}
		one.next, one.stop = iter.Pull2(messagesOf(s.src, r.ID))
		m.rooms = append(m.rooms, one)
		return nil
	})
	if err != nil {
		return m, err
	}
	for i := len(m.rooms) - 1; i >= 0; i-- {
		if err := m.advance(i); err != nil {
			return m, err
		}
	}
	return m, nil
}

// messagesOf gives the messages of a room; an error ends them.
func messagesOf(src *capsule.Reader, room capsule.Ref) iter.Seq2[*capsule.Message, error] {
	return func(yield func(*capsule.Message, error) bool) {
		stopped := false
		err := src.Messages(room, func(m *capsule.Message) error {
			if !yield(m, nil) {
				stopped = true
				return capsule.ErrStop
			}
			return nil
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// advance reads the next message of the i-th room and puts the room where it belongs.
func (m *merge) advance(i int) error {
	r := m.rooms[i]
	at, err, ok := r.next()
	if err != nil {
		return err
	}
	if !ok {
		r.stop()
		end := len(m.rooms) - 1
		m.rooms[i] = m.rooms[end]
		m.rooms = m.rooms[:end]
	} else {
		r.at = at
	}
	m.sink(i)
	return nil
}

// sink moves the i-th room down the heap.
func (m *merge) sink(i int) {
	for {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(m.rooms) && m.rooms[child].at.ID < m.rooms[least].at.ID {
				least = child
			}
		}
		if least == i {
			return
		}
		m.rooms[i], m.rooms[least] = m.rooms[least], m.rooms[i]
		i = least
	}
}

// next returns the message with the lowest number that is left, or nil. It is good until the
// next call.
func (m *merge) next() (*capsule.Message, hub.RoomID, error) {
	if m.given {
		if err := m.advance(0); err != nil {
			return nil, "", err
		}
	}
	if m.given = len(m.rooms) > 0; !m.given {
		return nil, "", nil
	}
	return m.rooms[0].at, m.rooms[0].id, nil
}

// close ends the reading of all rooms.
func (m *merge) close() {
	for _, r := range m.rooms {
		r.stop()
	}
}
