package core

import (
	"context"

	"hubcli/hub"
)

// Index finds rows by their words. It is derived from the store and may be
// lost; every hit is read again from the store before it is shown. One
// goroutine calls Open, Put and Close. Any goroutine may call Find and Excerpt
// between Open and Close.
type Index interface {
	// Open makes the index ready and returns the position up to which it is
	// complete. The position is zero if the index was built anew because there
	// was none or it was unusable. An index beyond end belongs to another
	// history of the store and is unusable.
	Open(end IndexPosition) (IndexPosition, error)
	// Put adds documents, replaces those with the same Type and Number, and
	// moves the position, all or nothing. The documents can be found when Put
	// returns. After the end of the process the index holds everything up to
	// some Put. After an error the index must be closed and opened again.
	Put(ctx context.Context, docs []IndexDocument, upto IndexPosition) error
	// Find returns at most q.Limit documents, best first. Error: invalid if the
	// query holds no word.
	Find(ctx context.Context, q IndexQuery) ([]IndexHit, error)
	// Excerpt returns the short part of text that shows the words of the query
	// best, and the ranges of these words in it, in characters.
	Excerpt(query, text string) (string, [][2]int)
	// Documents returns the number of documents.
	Documents() int64
	Close() error
}

// IndexPosition is the point up to which an index is complete: it holds every
// message up to Message and every decision, artifact and memory up to the
// record Seq.
type IndexPosition struct {
	Message hub.MessageID
	Seq     hub.Seq
}

// IndexDocument is the indexed part of one row: its words and the fields that
// filters use.
type IndexDocument struct {
	Type    hub.FoundType
	Number  uint64 // message id, else the sequence number of the record that made it
	Text    string
	Parties []hub.AgentID // the agents that may see it; nil: all agents
	History bool          // a memory that has been replaced
	Place   string        // room id, project id of a project's memory, or empty
	Channel hub.ChannelName
	From    hub.AgentID
	Kind    string
	TS      hub.Time
}

// IndexQuery asks for documents that hold the words of Text; zero fields do not
// select.
type IndexQuery struct {
	Text     string
	Viewer   hub.AgentID // sees the documents of which it is a party
	Operator bool        // sees all
	Places   []string
	Channel  hub.ChannelName
	From     hub.AgentID
	Kind     string
	Types    []hub.FoundType
	Since    hub.Time
	History  bool // replaced memories too
	Limit    int
}

// IndexHit is one document found.
type IndexHit struct {
	Type   hub.FoundType
	Number uint64
	Score  float64 // higher is better; does not depend on documents that the viewer may not see
}
