package hub

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// rest holds the methods that FindRoom does not call.
type rest interface{ Projects }

// someRooms are Projects with a few rooms.
type someRooms struct {
	rest
	rooms []Room
	asked []RoomRef
}

func (s *someRooms) Room(_ context.Context, ref RoomRef) (Room, error) {
	s.asked = append(s.asked, ref)
	return Room{RoomID: "r_asked"}, nil
}

func (s *someRooms) Rooms(_ context.Context, q RoomsQuery) ([]Room, Cursor, error) {
	return s.rooms, "", nil
}

func (s *someRooms) Project(_ context.Context, ref string) (Project, error) {
	return Project{Slug: "of-" + ref}, nil
}

func TestFindRoom(t *testing.T) {
	all := &someRooms{rooms: []Room{
		{RoomID: "r_1", ProjectID: "p", Slug: "till", Name: "Till"},
		{RoomID: "r_2", ProjectID: "p", Slug: "main", Name: "Stock"},
		{RoomID: "r_3", ProjectID: "q", Slug: "main", Name: "till"},
		{RoomID: "r_4", ProjectID: "q", Slug: "stock-2", Name: "stock 2"},
	}}
	for ref, want := range map[RoomRef]any{
		{Room: "r_9z"}:                RoomRef{Room: "r_9z"},
		{Room: "shop/main"}:           RoomRef{Project: "shop", Room: "main"},
		{Room: "a/b", Project: "x"}:   RoomRef{Project: "x", Room: "a/b"},
		{Room: "till"}:                RoomID("r_1"), // a slug counts more than a name
		{Room: " STOCK 2"}:            RoomID("r_4"),
		{Room: "main"}:                "2 rooms are called this: name one with its project: of-p/main, of-q/main",
		{Room: "none"}:                "there is no such room: ",
		{Room: "r_Z"}:                 "there is no such room: ",
		{Room: "r_", Project: "shop"}: RoomRef{Project: "shop", Room: "r_"},
	} {
		all.asked = nil
		got, err := FindRoom(t.Context(), all, ref)
		var refused *Error
		switch want := want.(type) {
		case RoomRef:
			if len(all.asked) != 1 || all.asked[0] != want || got.RoomID != "r_asked" {
				t.Errorf("%+v asks for %+v", ref, all.asked)
			}
		case RoomID:
			if got.RoomID != want || err != nil {
				t.Errorf("%+v is %s, %v, want %s", ref, got.RoomID, err, want)
			}
		case string:
			if !errors.As(err, &refused) || refused.Code != CodeRoomNotFound || refused.Message+": "+refused.Fix != want {
				t.Errorf("%+v: %v", ref, err)
			}
		}
	}
}

// TestManyRoomsOfOneName are counted, and a few are named.
func TestManyRoomsOfOneName(t *testing.T) {
	all := &someRooms{rooms: make([]Room, 9)}
	for i := range all.rooms {
		all.rooms[i] = Room{RoomID: RoomID("r_" + string(rune('0'+i))), ProjectID: "p", Slug: "main"}
	}
	_, err := FindRoom(t.Context(), all, RoomRef{Room: "main"})
	var refused *Error
	if !errors.As(err, &refused) || strings.Count(refused.Fix, "of-p/main") != manyRooms || !strings.HasSuffix(refused.Fix, "or one of 4 others") {
		t.Errorf("got %v", err)
	}
}
