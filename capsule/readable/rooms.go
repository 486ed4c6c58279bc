package readable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hubcli/capsule"
	"hubcli/hub"
)

// rooms begins the page of each room. All first pages get their names before any second one.
func (r *renderer) rooms() error {
	names, replays := &folder{}, &folder{}
	project, err := r.src.Project()
	if err == nil {
		err = r.datum("project.json", &project)
	}
	for _, kind := range [...]string{"rooms", "agents", "decisions", "artifacts", "memories", "runs", "tasks"} {
		if err == nil {
			err = r.begin(kind + ".ndjson")
		}
	}
	if err != nil {
		return err
	}
	return r.src.Rooms(func(line *capsule.Room) error {
		name := r.clean(line.Name)
		if name == "" {
			name = r.clean(line.Slug)
		}
		one := &room{Room: *line, book: newBook(r.spool, names, "rooms/", slug(r.clean(line.Slug), "room"), oneLine(name))}
		one.first = one.book.path()
		if r.hasReplays() {
			one.replay = "replays/" + replays.free(slug(r.clean(line.Slug), "room"), ".html")
		}
		r.all = append(r.all, one)
		r.byRef[line.ID] = one
		if err := r.datum("rooms.ndjson", line); err != nil {
			return err
		}
		return one.book.add(r.roomHead(one))
	})
}

func (r *renderer) roomHead(line *room) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nRoom #%s, begun %s by %s.", line.ID, day(line.CreatedAt), r.by(line.CreatedBy))
	if line.Archived {
		b.WriteString(" It is archived.")
	}
	if line.replay != "" {
		b.WriteString(" [Replay it](../" + line.replay + ") in a browser.")
	}
	b.WriteByte('\n')
	if line.Topic != "" {
		r.quote(&b, line.Topic)
	}
	if line.ForceReason != "" {
		b.WriteString("\nWhy there is a room beside others like it:\n")
		r.quote(&b, line.ForceReason)
	}
	return b.String()
}

// agents writes the agents for programs; people see their names where they act.
func (r *renderer) agents() error {
	return r.src.Agents(func(line *capsule.Agent) error { return r.datum("agents.ndjson", line) })
}

// in returns the room of a reference, which a checked capsule always has.
func (r *renderer) in(ref capsule.Ref) (*room, error) {
	if one := r.byRef[ref]; one != nil {
		return one, nil
	}
	return nil, hub.NewError(hub.CodeCapsuleInvalid, "a line names a room that the capsule lacks").With("room", string(ref)).
		WithFix("get the file again from where it comes, or export the project again")
}

// messages writes the messages of each room, by days, and the page that replays it.
func (r *renderer) messages() error {
	if r.src.Manifest().Scope == capsule.ScopeKnowledge {
		return nil
	}
	for rooms := range slices.Chunk(r.all, roomsAtOnce) {
		pasts, err := r.pasts(rooms)
		if err != nil {
			return err
		}
		for _, one := range rooms {
			if err := r.roomMessages(one, pasts[one.ID]); err != nil {
				return err
			}
			if past := pasts[one.ID]; past != nil {
				delete(pasts, one.ID)
				if err := r.replay(past); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// roomMessages writes the messages of a room, and tells them to its past, if there is one.
func (r *renderer) roomMessages(one *room, past *past) error {
	if err := r.begin("messages/" + string(one.ID) + ".ndjson"); err != nil {
		return err
	}
	today := ""
	err := r.src.Messages(one.ID, func(m *capsule.Message) error {
		one.messages++
		if err := r.datum("messages/"+string(one.ID)+".ndjson", m); err != nil {
			return err
		}
		if now := day(m.TS); now != today {
			today = now
			if err := one.book.section("## Messages of " + now); err != nil {
				return err
			}
		}
		if err := one.book.add(r.message(m)); err != nil {
			return err
		}
		if past != nil {
			if err := past.addMessage(m); err != nil {
				return err
			}
		}
		return r.step()
	})
	if err == nil && one.messages == 0 {
		err = one.book.add("\nNobody has written a message.\n")
	}
	return err
}

// message is the block of a message: who, what and when, then the text.
func (r *renderer) message(m *capsule.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**#m%d** %s, %s, %s", m.ID, clock(m.TS), r.by(m.From), r.text(string(m.Kind)))
	if m.To != "" {
		b.WriteString(", to " + r.by(m.To) + " alone")
		if m.Channel != "" {
			b.WriteString(" as " + r.text(string(m.Channel)))
		}
	}
	if m.Thread != "" {
		b.WriteString(", thread " + r.text(string(m.Thread)))
	}
	if m.ReplyTo > 0 {
		b.WriteString(", replies to " + number(m.ReplyTo))
	}
	if m.ParentTask > 0 {
		b.WriteString(", part of task " + number(m.ParentTask))
	}
	if m.Authority == hub.AuthorityOperator {
		b.WriteString(", by the operator")
	}
	b.WriteByte('\n')
	if m.Body != "" {
		r.quote(&b, m.Body)
	}
	for i := range m.Attachments {
		r.attachment(&b, &m.Attachments[i])
	}
	return b.String()
}

func number(n capsule.Number) string { return "#m" + strconv.FormatInt(int64(n), 10) }
