package core

import (
	"context"

	"hubcli/hub"
)

// Index finds rows by their words. It is derived from the store and never
// believed: it may be lost, and every hit is looked up again before it is shown.
// Open, Put and Close are called by one goroutine; Find and Excerpt by any,
// between Open and Close.
type Index interface {
	// Open makes the index ready and says how far it goes: the zero position if
	// it has been made anew, because there was none or none that can be used. One
	// that goes beyond end is of another past and cannot.
	Open(end IndexPosition) (IndexPosition, error)
	// Put takes documents in, replacing those with the same Type and Number, and
	// moves the position, all of it or nothing. What is put can be found when Put
	// returns; what survives the end of the process is all up to some Put. An
	// error means that the index cannot be used any more: close it, open it.
	Put(ctx context.Context, docs []IndexDocument, upto IndexPosition) error
	// Find returns the best documents first, at most q.Limit. invalid if the
	// query holds no word.
	Find(ctx context.Context, q IndexQuery) ([]IndexHit, error)
	// Excerpt returns the part of text, at most so many characters, that shows the
	// words of the query best, and where they stand in it, in characters.
	Excerpt(query, text string, chars int) (string, [][2]int)
	// Documents returns how many documents there are.
	Documents() int64
	Close() error
}

// IndexPosition is how far an index goes: every message up to Message and every
// decision, artifact and memory up to the record Seq is in it.
type IndexPosition struct {
	Message hub.MessageID
	Seq     hub.Seq
}

// IndexDocument is what is indexed of one row: its words and what selects it.
type IndexDocument struct {
	Type    hub.FoundType
	Number  uint64 // message id, else the sequence number of the record that made it
	Text    string
	Parties []hub.AgentID // who may see it; nil: everybody
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
	Score  float64 // higher is better; says nothing about what the viewer may not see
}
