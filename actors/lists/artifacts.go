package lists

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Artifacts lists artifacts, latest first; see hub.Records.
func (s *Lists) Artifacts(_ context.Context, q hub.ArtifactsQuery) ([]hub.Artifact, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := s.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	w, err := s.cursors.walkPlace(listArtifacts, q.Cursor, s.view.ShownSeq.Load())
	if err != nil {
		return nil, "", err
	}
	before, err := beforeID(core.PrefixArtifact, string(q.Before))
	if err != nil {
		return nil, "", err
	}
	w.Before = min(w.Before, uint64(before))
	p := newPage[hub.Artifact](q.Limit)
	add := func(a hub.Artifact) bool {
		return !keepsArtifact(&q, &a) || p.add(a, walkKey(w.AsOf, uint64(view.SeqOf(core.PrefixArtifact, a.ArtifactID))))
	}
	if q.Latest {
		err = s.latestArtifacts(&q, w, add)
	} else {
		err = s.allArtifacts(&q, w, add)
	}
	return p.end(s.cursors, listArtifacts, err)
}

// allArtifacts calls add with all versions, the latest first, until it returns false.
func (s *Lists) allArtifacts(q *hub.ArtifactsQuery, w view.Walk, add func(hub.Artifact) bool) error {
	return view.LatestRows(s.rows, core.TableArtifact, core.TableArtifactByRoom, q.RoomID, hub.Seq(w.Before), func(a hub.Artifact) bool {
		last := q.RoomID != "" && a.Title == q.Title && a.Version == 1 // nothing of the title lies before
		return add(a) && !last
	})
}

func keepsArtifact(q *hub.ArtifactsQuery, a *hub.Artifact) bool {
	return (q.Title == "" || a.Title == q.Title) && (q.Kind == "" || a.Kind == q.Kind) &&
		(q.Version == 0 || a.Version == q.Version)
}

// latestArtifacts calls add with the versions that were the latest when the walk began, so
// that a title which gets another version meanwhile is not passed over.
func (s *Lists) latestArtifacts(q *hub.ArtifactsQuery, w view.Walk, add func(hub.Artifact) bool) error {
	prefix := []byte(nil)
	if q.RoomID != "" {
		prefix = core.OwnedKey(q.RoomID, []byte(q.Title))
	}
	var found []hub.Seq
	later := map[string]bool{} // keys of titles with a version from after the beginning
	err := view.ReadRows(s.rows, core.TableArtifactTitle, prefix, nil, false, func(key []byte, l core.LatestArtifact) bool {
		if seq := view.SeqOf(core.PrefixArtifact, l.Artifact); uint64(seq) > w.AsOf {
			later[string(key)] = true
		} else {
			found = append(found, seq)
		}
		return true
	})
	if err == nil && len(later) > 0 {
		err = s.artifactsAsOf(q.RoomID, w.AsOf, later, func(seq hub.Seq) { found = append(found, seq) })
	}
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(seq hub.Seq) bool { return uint64(seq) >= w.Before })
	slices.SortFunc(found, func(a, b hub.Seq) int { return cmp.Compare(b, a) })
	for _, seq := range found {
		a, err := view.StoredRow[hub.Artifact](s.rows, core.TableArtifact, core.SeqKey(seq))
		if err != nil || !add(a) {
			return err
		}
	}
	return nil
}

// artifactsAsOf finds, for titles that have a later one, the version that was the
// latest as of a record. It reads back to the oldest of these.
func (s *Lists) artifactsAsOf(room hub.RoomID, asOf uint64, titles map[string]bool, add func(hub.Seq)) error {
	return view.LatestRows(s.rows, core.TableArtifact, core.TableArtifactByRoom, room, hub.Seq(1<<64-1), func(a hub.Artifact) bool {
		key, seq := string(core.OwnedKey(a.RoomID, []byte(a.Title))), view.SeqOf(core.PrefixArtifact, a.ArtifactID)
		switch {
		case !titles[key]:
		case uint64(seq) <= asOf:
			add(seq)
			delete(titles, key)
		case a.Version == 1: // the title is from after the beginning
			delete(titles, key)
		}
		return len(titles) > 0
	})
}

// Artifact returns an artifact without its content; see hub.Records.
func (s *Lists) Artifact(_ context.Context, id hub.ArtifactID) (hub.Artifact, error) {
	seq, ok := core.SeqOf(core.PrefixArtifact, string(id))
	if !ok {
		return hub.Artifact{}, errArtifactNotFound(id)
	}
	a, err := view.StoredRow[hub.Artifact](s.rows, core.TableArtifact, core.SeqKey(seq))
	if errors.Is(err, core.ErrNotFound) {
		return a, errArtifactNotFound(id)
	}
	return a, err
}

// ArtifactContent returns an artifact with its bytes; see hub.Records. corrupt_record
// if they are not the bytes that were stored.
func (s *Lists) ArtifactContent(ctx context.Context, id hub.ArtifactID) (hub.Content, error) {
	a, err := s.Artifact(ctx, id)
	if err != nil {
		return hub.Content{}, err
	}
	if a.LeftOut != "" {
		return hub.Content{}, hub.NewError(hub.CodeArtifactNotFound, "the bytes of this artifact are not in this hub: the capsule of its project left them out, because they are "+a.LeftOut).
			With("artifact_id", id).WithFix("get it from the hub that the project comes from, where capsule export can name it with --artifacts")
	}
	if err := s.view.Share(ctx, int(a.Size)); err != nil {
		return hub.Content{}, err
	}
	seq, _ := core.SeqOf(core.PrefixArtifact, string(id))
	data, err := s.rows.Row(core.TableArtifactContent, core.SeqKey(seq))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return hub.Content{}, err
	}
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != a.SHA256 {
		return hub.Content{}, hub.NewError(hub.CodeCorruptRecord, "the content of the artifact is not what was stored").
			With("artifact_id", id)
	}
	if data == nil {
		data = []byte{}
	}
	return hub.Content{Artifact: a, Data: data}, nil
}

func errArtifactNotFound(id hub.ArtifactID) error {
	return hub.NewError(hub.CodeArtifactNotFound, "there is no such artifact").With("artifact_id", id)
}
