package api

import (
	"slices"

	"hubcli/hub"
)

// maxClearID bounds the id of a thing that is cleared: the name of a channel has as many bytes.
const maxClearID = 4 * hub.MaxNameChars

// ValidateClear checks a selection of things to clear.
func ValidateClear(in *hub.ClearInput) error {
	fix := "name who made them, or leave both out for what anybody made"
	if in.By != "" && in.Unnamed {
		return hub.Invalid("unnamed", "unnamed and by exclude each other").WithFix(fix)
	}
	if in.Project != "" && in.RoomID != "" {
		return hub.Invalid("project", "project and room_id exclude each other").WithFix("name the room alone")
	}
	return first(
		checkClearKind(in.Kind), checkDeletes("archived", in.Archived, in.Kind), checkClearPlace("project", in.Project, in.Kind, hub.ClearRooms, hub.ClearInvites, hub.ClearSeats),
		checkClearPlace("room_id", in.RoomID, in.Kind, hub.ClearQuestions, hub.ClearInvites, hub.ClearSeats), given(hub.CheckAgentID, "by", in.By),
		checkBounds(in), checkNumber("older_sec", in.OlderSec, hub.MaxClearAgeSec),
	)
}

// ValidateClearConfirm checks which things are cleared.
func ValidateClearConfirm(in *hub.ClearConfirmInput) error {
	if err := first(checkClearKind(in.Kind), checkDeletes("delete", in.Delete, in.Kind)); err != nil {
		return err
	}
	if len(in.IDs) == 0 || len(in.IDs) > hub.MaxClear {
		return hub.Invalid("ids", "ids lists 1 to 1000 things").With("limit", hub.MaxClear).WithFix("send the ids of the plan")
	}
	seen := map[string]bool{}
	for _, id := range in.IDs {
		if id == "" || len(id) > maxClearID || seen[id] {
			return hub.Invalid("ids", "an id is empty, too long or there twice").WithFix("send the ids of the plan as they are")
		}
		seen[id] = true
	}
	if in.Digest == "" {
		return hub.Invalid("digest", "digest is missing").WithFix("plan first, and send the digest of the plan")
	}
	if in.Reason == "" {
		return nil
	}
	return checkWords("reason", in.Reason)
}

// checkClearPlace refuses a place that does not select things of a kind: the plan would list
// those of all places.
func checkClearPlace[T ~string](field string, place T, kind hub.ClearKind, selects ...hub.ClearKind) error {
	if place == "" || slices.Contains(selects, kind) {
		return nil
	}
	return hub.Invalid(field, field+" does not select "+string(kind)).With("allowed", selects).WithFix("leave it out, or choose another kind")
}

// checkDeletes refuses to delete things of a kind that is never archived.
func checkDeletes(field string, deletes bool, kind hub.ClearKind) error {
	if !deletes || kind.Deletes() {
		return nil
	}
	return hub.Invalid(field, string(kind)+" are closed, and never deleted").With("allowed", []hub.ClearKind{hub.ClearProjects, hub.ClearRooms, hub.ClearChannels}).
		WithFix("leave it out, or choose another kind")
}

func checkClearKind(kind hub.ClearKind) error {
	if slices.Contains(hub.ClearKinds(), kind) {
		return nil
	}
	return hub.Invalid("kind", "there is no such kind of things to clear").With("allowed", hub.ClearKinds()).WithFix("send one of the allowed kinds")
}
