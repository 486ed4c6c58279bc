package core

import (
	"fmt"
	"slices"

	"hubcli/hub"
)

// Level is one existing folder on the way from a path up to the root of the
// file system.
type Level struct {
	Plain  string // absolute path without symbolic links
	Root   string // root of the git work tree that contains it; empty: none
	Common string // folder shared by all work trees of the repository; empty: none
	Rel    string // from Root, with slashes; "." is Root
}

// Candidate is a binding that may match. It matches if both paths of each pair
// in Same name one folder, which only the file system knows.
type Candidate struct {
	Room   hub.RoomID
	Folder Folder
	Level  int // index of the level at which it was found
	Same   [][2]string
}

// Candidates lists the bindings that may match, nearest level first. Within a
// level, the level's own path comes before its place in a work tree. The list
// ends with the first binding that matches for certain.
func (a *ProjectIndex) Candidates(levels []Level) []Candidate {
	var found []Candidate
	for i, l := range levels {
		certain := len(found)
		for _, b := range a.bound[plainKey(l.Plain)] {
			c := Candidate{Room: b.room, Folder: b.Folder, Level: i}
			if b.Plain == l.Plain {
				return append(found[:certain], c)
			}
			c.Same = [][2]string{{b.Plain, l.Plain}}
			found = append(found, c)
		}
		if l.Common == "" {
			continue
		}
		for _, b := range a.bound[sharedKey(l.Common, l.Rel)] {
			c := Candidate{Room: b.room, Folder: b.Folder, Level: i}
			if b.Common == l.Common && b.Rel == l.Rel {
				return append(found, c)
			}
			c.Same = [][2]string{{b.Common, l.Common}, {l.Root + "/" + b.Rel, l.Plain}}
			found = append(found, c)
		}
	}
	return found
}

// BindCommand binds a folder to a room. Seen holds, for the plain paths of
// bindings that may name the same folder in another spelling, whether they do.
type BindCommand struct {
	Room  hub.RoomID
	Path  string // as given
	Level Level
	Seen  map[string]bool
	By    hub.AgentID // may be empty
	Auto  bool        // its program does it by itself, and the room is told
}

// BindingsUnseen is an internal error. It says that these plain paths may name
// the folder in another spelling. The caller asks the file system and decides
// the command again.
type BindingsUnseen struct{ Plain []string }

func (e *BindingsUnseen) Error() string {
	return fmt.Sprintf("%d bindings have not been looked at", len(e.Plain))
}

// BindAnswer is the room, and whether the command changed a binding.
type BindAnswer struct {
	Room  hub.Room
	Bound bool
}

// Bind decides that a folder is bound to a room. A folder that is bound to it
// already stays as it is. Errors: room_not_found, already_bound, limit_reached;
// *BindingsUnseen.
func (p *Projects) Bind(c BindCommand) (Decision[BindAnswer], error) {
	room, ok := p.index.Room(c.Room)
	if !ok {
		return Decision[BindAnswer]{}, ErrRoomNotFound(string(c.Room))
	}
	switch b, err := p.index.boundAt(c.Level.Plain, c.Seen); {
	case err != nil:
		return Decision[BindAnswer]{}, err
	case b == nil:
	case b.room == c.Room:
		return Decision[BindAnswer]{Answer: func(Position) BindAnswer { return BindAnswer{Room: room.Room} }}, nil
	default:
		other, _ := p.index.Room(b.room)
		return Decision[BindAnswer]{}, hub.Errorf(hub.CodeAlreadyBound, "the folder is bound to room %s (%q)", b.room, other.Room.Name).
			With("room", other.Room).With("bound_path", b.Path).
			WithFix("use that room, or unbind the folder first")
	}
	if len(room.Folders) >= hub.MaxRoomBindings {
		return Decision[BindAnswer]{}, limitReached("folders bound to a room", hub.MaxRoomBindings).
			WithFix("unbind one of the room's folders, or bind a folder above them")
	}
	f := &RoomBound{Room: c.Room, Path: c.Path, Plain: c.Level.Plain, Common: c.Level.Common, Rel: c.Level.Rel, By: c.By}
	d := Decision[BindAnswer]{
		Draft:  Draft{Facts: []Fact{f}},
		Answer: func(at Position) BindAnswer { return BindAnswer{Room: f.bind(room, at).Room, Bound: true} },
	}
	if c.Auto {
		d.Messages = []MessageDraft{boundByItself(&c)}
	}
	return d, nil
}

// boundByItself tells a room whose folder no person has bound. It names no path: that is the text
// of a stranger where a repository is, and the hub's own words are trusted.
func boundByItself(c *BindCommand) MessageDraft {
	who := "An agent"
	if c.By != "" {
		who = string(c.By)
	}
	return MessageDraft{
		From: hub.AgentSystem, Channel: c.Room.Channel(), Kind: hub.KindNotice, Room: c.Room,
		Body: who + " needed a room and was in none, so its repository is bound to this one now: all agents that work there are in it. " +
			"A person takes that back with: hubcli room unbind. A hub that was started with --no-auto-rooms makes no room like this.",
		Metadata:  mustJSON(map[string]any{"auto_room": map[string]any{"by": c.By}}),
		Authority: hub.AuthoritySystem, Assurance: hub.AssuranceSession,
	}
}

// boundAt returns the binding of a folder, or nil: the binding with its plain
// path, else the first whose path was seen to name the same folder. Error:
// *BindingsUnseen.
func (a *ProjectIndex) boundAt(plain string, seen map[string]bool) (*boundFolder, error) {
	var same *boundFolder
	var unseen []string
	entries := a.bound[plainKey(plain)]
	for i := range entries {
		b := &entries[i]
		holds, looked := seen[b.Plain]
		switch {
		case b.Plain == plain:
			return b, nil
		case !looked:
			unseen = append(unseen, b.Plain)
		case holds && same == nil:
			same = b
		}
	}
	if same == nil && len(unseen) > 0 {
		return nil, &BindingsUnseen{unseen}
	}
	return same, nil
}

// UnbindCommand removes one binding: of the first bound folder among these
// plain paths, else of the folder that was bound under this text.
type UnbindCommand struct {
	Room  hub.RoomID
	Path  string
	Plain []string
	By    hub.AgentID // may be empty
}

// Unbind decides that a folder is no longer bound to the room. Errors:
// room_not_found, not_bound.
func (p *Projects) Unbind(c UnbindCommand) (Decision[hub.Room], error) {
	room, ok := p.index.Room(c.Room)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(c.Room))
	}
	folder, ok := room.boundAs(c)
	if !ok {
		return Decision[hub.Room]{}, hub.NewError(hub.CodeNotBound, "the folder itself is not bound to the room").
			With("path", c.Path).With("bindings", room.Room.Bindings).
			WithFix("name a folder that is; detail.bindings lists them")
	}
	f := &RoomUnbound{Room: c.Room, Plain: []string{folder.Plain}, By: c.By}
	return answering(f.unbind(room).Room, f), nil
}

// boundAs returns the folder that a command unbinds. The folder that the path
// names now comes before the path's text, because a link may have led elsewhere
// when it was bound. Of two folders bound under one text, the later one counts.
func (r *StoredRoom) boundAs(c UnbindCommand) (Folder, bool) {
	for _, plain := range c.Plain {
		if i := slices.IndexFunc(r.Folders, func(b Folder) bool { return b.Plain == plain }); i >= 0 {
			return r.Folders[i], true
		}
	}
	found, ok := Folder{}, false
	for _, b := range r.Folders {
		if b.Path == c.Path && (!ok || b.Seq > found.Seq) {
			found, ok = b, true
		}
	}
	return found, ok
}
