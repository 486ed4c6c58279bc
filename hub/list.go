package hub

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"slices"
)

// Cursor says where the next page of a list begins. Only the hub that gave it can
// read it; an empty one is the beginning or, in an answer, the end.
type Cursor string

// MaxCursorBytes is more than any cursor of a list has.
const MaxCursorBytes = 8 << 10

// Every list returns at most Limit rows from its Cursor on, in the order that
// its method names, and the cursor of the next page. Where rows are long, a page
// has fewer rows than Limit, but at least one. That cursor is empty after
// the last page. The order is total and a row keeps its place in it: a row that
// is selected during a whole walk appears exactly once, even if other rows come
// and go. A cursor that the list did not return is invalid. With Limit 0 the
// hub chooses the page size.

// PageQuery is a query that can continue at a cursor.
type PageQuery[Q any] interface{ At(Cursor) Q }

// Walk yields all rows of a list and reads one page at a time. list is a method
// such as Leases.Claims; q selects the rows and the page size. Walk ends after
// an error.
func Walk[Q PageQuery[Q], T any](ctx context.Context, list func(context.Context, Q) ([]T, Cursor, error), q Q) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		at := Cursor("")
		for {
			rows, next, err := list(ctx, q)
			if err != nil {
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if next == at {
				yield(none, NewError(CodeInternal, "the list does not advance: its next cursor is the same cursor").
					WithFix("report it, with the version of the hub"))
				return
			}
			at, q = next, q.At(next)
		}
	}
}

// All collects a walk. Use it for short lists only.
func All[Q PageQuery[Q], T any](ctx context.Context, list func(context.Context, Q) ([]T, Cursor, error), q Q) ([]T, error) {
	rows := []T{}
	for row, err := range Walk(ctx, list, q) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ChannelsQuery selects channels; zero fields do not select. Those that are archived are
// selected only with Archived.
type ChannelsQuery struct {
	Prefix    string // of the name
	CreatedBy AgentID
	Archived  bool
	Cursor    Cursor
	Limit     int
}

// ProjectsQuery selects all projects; those that are archived only with Archived.
type ProjectsQuery struct {
	Archived bool
	Cursor   Cursor
	Limit    int
}

// RoomsQuery selects rooms of Project (id, slug or name), or of all projects; those that are
// archived only with Archived.
type RoomsQuery struct {
	Project  string
	Archived bool
	Cursor   Cursor
	Limit    int
}

// LiveAs returns the live session of an agent, or nil. agents lists live agents.
func LiveAs(ctx context.Context, agents func(context.Context, AgentsQuery) ([]LiveAgent, Cursor, error), id AgentID) (*LiveAgent, error) {
	rows, _, err := agents(ctx, AgentsQuery{Prefix: string(id), Limit: 1}) // it is the first of its prefix
	if err != nil || len(rows) == 0 || rows[0].AgentID != id {
		return nil, err
	}
	return &rows[0], nil
}

// At returns the query for the page at a cursor.
func (q AgentsQuery) At(c Cursor) AgentsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q UndeliveredQuery) At(c Cursor) UndeliveredQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q ChannelsQuery) At(c Cursor) ChannelsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q ThreadsQuery) At(c Cursor) ThreadsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q LeasesQuery) At(c Cursor) LeasesQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q TasksQuery) At(c Cursor) TasksQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q RunsQuery) At(c Cursor) RunsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q ProjectsQuery) At(c Cursor) ProjectsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q RoomsQuery) At(c Cursor) RoomsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q DecisionsQuery) At(c Cursor) DecisionsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q ArtifactsQuery) At(c Cursor) ArtifactsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q InvitesQuery) At(c Cursor) InvitesQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q MemoryQuery) At(c Cursor) MemoryQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q SpawnsQuery) At(c Cursor) SpawnsQuery { q.Cursor = c; return q }

// At returns the query for the page at a cursor.
func (q AsksQuery) At(c Cursor) AsksQuery { q.Cursor = c; return q }

// More names each list of an answer that lacks rows, and the call that reads the whole list:
// of the API, or a command where no call has it.
type More map[string]string

// Add notes that a list lacks rows.
func (m *More) Add(list, call string) {
	if *m == nil {
		*m = More{}
	}
	(*m)[list] = call
}

// Lists returns the names of the lists, in the order of the alphabet.
func (m More) Lists() []string { return slices.Sorted(maps.Keys(m)) }

// GetCall writes a call of the API that reads: its path and its parameters, as pairs of a
// name and a value. Pairs without a value are left out.
func GetCall(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return "GET " + path
	}
	return "GET " + path + "?" + query.Encode()
}
