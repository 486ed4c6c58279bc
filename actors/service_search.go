package actors

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/index"
	"hubcli/hub"
)

const (
	searchFresh    = 500 * time.Millisecond // how long a search waits for the index
	searchPatience = 2 * time.Second        // how long a search takes; then the best hits so far are the answer
)

// Search finds rows by their words; see hub.Searches. The index only proposes:
// each hit's stored row is read and checked before it is shown.
func (h *Hub) Search(ctx context.Context, q hub.SearchQuery) (hub.SearchPage, error) {
	iq := core.IndexQuery{
		Text: q.Text, Viewer: q.Viewer, Operator: hub.CallerOf(ctx).Operator,
		Channel: q.Channel, From: q.FromAgent, Kind: q.Kind, Types: q.Types, Since: q.Since, Limit: q.Limit,
	}
	if q.RoomID != "" {
		room, err := h.view.Room(q.RoomID)
		if err != nil {
			return hub.SearchPage{}, err
		}
		iq.Places = []string{string(room.RoomID), string(room.ProjectID)}
	}
	if q.Channel != "" {
		if err := h.checkChannel(q.Channel, http.StatusNotFound); err != nil {
			return hub.SearchPage{}, err
		}
	}
	hits, behind, err := h.find(ctx, iq)
	if err != nil {
		return hub.SearchPage{}, err
	}
	page := hub.SearchPage{Rows: make([]hub.Found, 0, len(hits)), Behind: behind}
	for _, hit := range hits {
		found, err := h.found(&iq, hit)
		if err != nil {
			return hub.SearchPage{}, err
		}
		if found != nil {
			page.Rows = append(page.Rows, *found)
		}
	}
	return page, nil
}

// find asks the index after a short wait for the rows that are already shown.
func (h *Hub) find(ctx context.Context, q core.IndexQuery) (hits []core.IndexHit, behind int64, err error) {
	if behind, err = h.indexer.Await(ctx, searchFresh); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchPatience)
	defer cancel()
	hits, err = h.options.Index.Find(ctx, q)
	var known *hub.Error
	if err != nil && !errors.As(err, &known) {
		h.log.Warn("search failed", "error", err)
		err = index.ErrUnavailable()
	}
	return hits, behind, err
}

// found makes the row of a hit; nil if the viewer may not see it or it is gone.
func (h *Hub) found(q *core.IndexQuery, hit core.IndexHit) (row *hub.Found, err error) {
	var text string
	switch hit.Type {
	case hub.FoundMessage:
		row, text, err = h.foundMessage(q, hub.MessageID(hit.Number))
	case hub.FoundDecision:
		row, text, err = h.foundDecision(hub.Seq(hit.Number))
	case hub.FoundArtifact:
		row, text, err = h.foundArtifact(hub.Seq(hit.Number))
	case hub.FoundMemory:
		row, text, err = h.foundMemory(q, hub.Seq(hit.Number))
	}
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil || row == nil || !keepsFound(q, row) {
		return nil, err
	}
	row.Type, row.Score = hit.Type, hit.Score
	row.Snippet, row.Matches = h.options.Index.Excerpt(q.Text, text)
	return row, nil
}

// keepsFound applies the query's fields to a row that was found.
func keepsFound(q *core.IndexQuery, row *hub.Found) bool {
	return (q.Channel == "" || row.Channel == q.Channel) && (q.From == "" || row.FromAgent == q.From) &&
		(q.Kind == "" || row.Kind == q.Kind) && row.TS >= q.Since
}

func (h *Hub) foundMessage(q *core.IndexQuery, id hub.MessageID) (*hub.Found, string, error) {
	m, err := h.view.Message(id)
	if errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if !q.Operator && (!hub.Visible(q.Viewer, m.From, m.To) || !h.view.Answered.HandOut(id)) {
		return nil, "", nil
	}
	row, err := m.JSON.Decode()
	if err != nil {
		return nil, "", hub.Errorf(hub.CodeCorruptRecord, "message %d cannot be read", id)
	}
	if len(q.Places) > 0 && (row.RoomID == nil || !slices.Contains(q.Places, string(*row.RoomID))) {
		return nil, "", nil
	}
	return &hub.Found{
		ID: strconv.FormatInt(int64(id), 10), MessageID: &row.ID, RoomID: row.RoomID, Channel: row.Channel,
		ThreadID: row.ThreadID, FromAgent: row.FromAgent, ToAgent: row.ToAgent, Kind: string(row.Kind), TS: row.TS,
	}, index.MessageText(&row), nil
}

func (h *Hub) foundDecision(seq hub.Seq) (*hub.Found, string, error) {
	row, err := index.StoredDecision(h.rows, seq)
	if err != nil {
		return nil, "", err
	}
	return &hub.Found{
		ID: string(row.DecisionID), RoomID: &row.RoomID, FromAgent: row.By, Title: row.Title, TS: row.CreatedAt,
	}, index.DecisionText(row), nil
}

func (h *Hub) foundArtifact(seq hub.Seq) (*hub.Found, string, error) {
	row, err := index.StoredArtifact(h.rows, seq)
	if err != nil {
		return nil, "", err
	}
	text, err := index.ArtifactText(h.rows, row, seq)
	return &hub.Found{
		ID: string(row.ArtifactID), RoomID: &row.RoomID, FromAgent: row.By, Kind: row.Kind, Title: row.Title, TS: row.CreatedAt,
	}, text, err
}

// SearchStatus returns the state of the index.
func (h *Hub) SearchStatus() hub.SearchStatus {
	var s hub.SearchStatus
	var left time.Duration
	if s.Open, s.Behind, left = h.indexer.State(); s.Open {
		s.Documents = h.options.Index.Documents()
	}
	if left > 0 {
		s.LeftSec = new(left.Seconds())
	}
	return s
}

// foundMemory makes the row of a hit; nil if the memory was replaced or belongs
// elsewhere.
func (h *Hub) foundMemory(q *core.IndexQuery, seq hub.Seq) (*hub.Found, string, error) {
	row, err := h.view.Memory(seq)
	if err != nil {
		return nil, "", err
	}
	if row.ReplacedAt != nil && !q.History || len(q.Places) > 0 && !slices.Contains(q.Places, row.Of()) {
		return nil, "", nil
	}
	return &hub.Found{ID: string(row.MemoryID), RoomID: row.RoomID, FromAgent: row.By, Title: row.Key, TS: row.CreatedAt}, index.MemoryText(&row.Memory), nil
}
