package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hubcli/hub"
)

// The facts of connections: 1000 to 1009.
const (
	factConnectionSet     FactType = 1000
	factConnectionDeleted FactType = 1001
	factModelsSet         FactType = 1002
)

func connectionFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factConnectionSet:     func() Fact { return &ConnectionSet{} },
		factConnectionDeleted: func() Fact { return &ConnectionDeleted{} },
		factModelsSet:         func() Fact { return &ConnectionModelsSet{} },
	}
}

// Connections decides which connections to providers there are. It sees references to keys
// and never a key.
//
// Invariants:
//  1. No two connections have labels that differ in case alone.
//  2. A connection with a key has the servers for which the key was given.
type Connections struct {
	held map[hub.ConnectionID]hub.Connection
}

// ConnectionSet says how a connection is from now on. A connection without an id is new:
// the record that makes it names it.
type ConnectionSet struct {
	Connection hub.Connection `json:"connection"`
}

// ConnectionDeleted says that a connection is no more.
type ConnectionDeleted struct {
	ConnectionID hub.ConnectionID `json:"connection_id"`
}

// ConnectionModelsSet says which models a provider has told.
type ConnectionModelsSet struct {
	ConnectionID hub.ConnectionID    `json:"connection_id"`
	Models       []hub.ProviderModel `json:"models"` // none: they are forgotten
}

// FactType implements Fact.
func (*ConnectionSet) FactType() FactType { return factConnectionSet }

// FactType implements Fact.
func (*ConnectionDeleted) FactType() FactType { return factConnectionDeleted }

// FactType implements Fact.
func (*ConnectionModelsSet) FactType() FactType { return factModelsSet }

// ConnectionKey says where the key of a connection is. The zero value is no key.
type ConnectionKey struct {
	Source      hub.KeySource
	Ref         string
	Variable    string
	Fingerprint string
	Origin      string
}

// ConnectionChanged is the outcome of a change. Dropped refers to a key that no connection
// uses any more; empty: there is none.
type ConnectionChanged struct {
	Row     hub.Connection `json:"row"`
	Dropped string         `json:"dropped,omitempty"`
}

// NewConnections returns the state without connections.
func NewConnections() *Connections {
	return &Connections{held: map[hub.ConnectionID]hub.Connection{}}
}

// Restore adds a stored row. An empty value is a connection that was deleted.
func (c *Connections) Restore(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var row hub.Connection
	if json.Unmarshal(value, &row) != nil {
		return hub.NewError(hub.CodeCorruptRecord, "the stored row of a connection cannot be read")
	}
	c.held[row.ConnectionID] = row
	return nil
}

// Create decides a new connection. Without a label it gets that of its provider, with a
// number if need be. Errors: limit_reached, label_taken.
func (c *Connections) Create(row hub.Connection, key ConnectionKey, now Now) (Decision[ConnectionChanged], error) {
	if len(c.held) >= hub.MaxProviderConnections {
		return Decision[ConnectionChanged]{}, hub.Errorf(hub.CodeLimitReached, "there are %d connections, and there cannot be more", hub.MaxProviderConnections).
			With("limit", hub.MaxProviderConnections).WithFix("delete a connection that is not needed")
	}
	if row.Label == "" {
		row.Label = c.freeLabel(string(row.ProviderID))
	}
	if err := c.checkLabel("", row.Label); err != nil {
		return Decision[ConnectionChanged]{}, err
	}
	row.ConnectionID, row.CreatedAt, row.UpdatedAt = "", now.Wall, now.Wall
	row = withKey(row, key)
	return Decision[ConnectionChanged]{
		Draft: Draft{Facts: []Fact{&ConnectionSet{Connection: row}}},
		Answer: func(at Position) ConnectionChanged {
			row.ConnectionID = hub.ConnectionID(IDAt(PrefixConnection, at.Seq))
			return ConnectionChanged{Row: row}
		},
	}, nil
}

// freeLabel returns a label that begins with name and that no connection has.
func (c *Connections) freeLabel(name string) string {
	label := name
	for n := 2; c.checkLabel("", label) != nil; n++ {
		label = name + "-" + strconv.Itoa(n)
	}
	return label
}

// checkLabel refuses a label that another connection has.
func (c *Connections) checkLabel(own hub.ConnectionID, label string) error {
	for id, row := range c.held {
		if id != own && strings.EqualFold(row.Label, label) {
			return hub.Errorf(hub.CodeLabelTaken, "the connection %s has the label %s already", id, row.Label).
				With("connection_id", id).WithFix("choose another label, or delete or rename that connection")
		}
	}
	return nil
}

func withKey(row hub.Connection, key ConnectionKey) hub.Connection {
	row.KeySource, row.KeyRef, row.KeyVariable = key.Source, key.Ref, key.Variable
	row.KeyFingerprint, row.KeyOrigin = key.Fingerprint, key.Origin
	return row
}

// ConnectionMove says where a connection leads from now on.
type ConnectionMove struct {
	Label    *string // nil: as it is
	Region   string
	Endpoint string
	Origin   string // the servers that would get the key
}

// Update decides a change. If other servers would get the key, the connection has none any
// more, and what the provider told is forgotten. Errors: connection_not_found, label_taken.
func (c *Connections) Update(id hub.ConnectionID, m ConnectionMove, now Now) (Decision[ConnectionChanged], error) {
	row, err := c.row(id)
	if err != nil {
		return Decision[ConnectionChanged]{}, err
	}
	if m.Label != nil {
		if err := c.checkLabel(id, *m.Label); err != nil {
			return Decision[ConnectionChanged]{}, err
		}
		row.Label = *m.Label
	}
	moved := row.Region != m.Region || row.Endpoint != m.Endpoint
	row.Region, row.Endpoint, row.UpdatedAt = m.Region, m.Endpoint, now.Wall
	out := ConnectionChanged{}
	var facts []Fact
	if moved {
		row.Check, row.Models, row.ModelsAt = nil, 0, nil
		facts = append(facts, &ConnectionModelsSet{ConnectionID: id})
	}
	if row.KeySource != hub.KeySourceNone && row.KeyOrigin != m.Origin {
		out.Dropped = row.KeyRef
		row = withKey(row, ConnectionKey{Source: hub.KeySourceNeeded})
	}
	out.Row = row
	return Decision[ConnectionChanged]{
		Draft:  Draft{Facts: append(facts, &ConnectionSet{Connection: row})},
		Answer: func(Position) ConnectionChanged { return out },
	}, nil
}

// SetKey decides where the key of a connection is from now on. Seen is the row that the
// caller has seen; if the servers have changed since, the key is not for them. Errors:
// connection_not_found, version_conflict.
func (c *Connections) SetKey(seen *hub.Connection, key ConnectionKey, now Now) (Decision[ConnectionChanged], error) {
	row, err := c.unchanged(seen)
	if err != nil {
		return Decision[ConnectionChanged]{}, err
	}
	out := ConnectionChanged{Dropped: row.KeyRef}
	if row.KeyRef == key.Ref {
		out.Dropped = ""
	}
	row = withKey(row, key)
	row.Check, row.UpdatedAt = nil, now.Wall
	out.Row = row
	return answering(out, &ConnectionSet{Connection: row}), nil
}

// Checked decides what a verification has shown. A failure leaves the models as they are.
// Errors: connection_not_found, version_conflict.
func (c *Connections) Checked(seen *hub.Connection, check hub.ConnectionCheck, models []hub.ProviderModel, fingerprint string, now Now) (Decision[ConnectionChanged], error) {
	row, err := c.unchanged(seen)
	if err != nil {
		return Decision[ConnectionChanged]{}, err
	}
	check.At = now.Wall
	row.Check = &check
	if fingerprint != "" {
		row.KeyFingerprint = fingerprint // the variable may hold another key than it did
	}
	var facts []Fact
	if check.OK {
		at := now.Wall
		row.Models, row.ModelsAt = len(models), &at
		facts = append(facts, &ConnectionModelsSet{ConnectionID: row.ConnectionID, Models: append([]hub.ProviderModel{}, models...)})
	}
	return Decision[ConnectionChanged]{
		Draft:  Draft{Facts: append(facts, &ConnectionSet{Connection: row})},
		Answer: func(Position) ConnectionChanged { return ConnectionChanged{Row: row} },
	}, nil
}

// Delete decides the end of a connection. Error: connection_not_found.
func (c *Connections) Delete(id hub.ConnectionID) (Decision[ConnectionChanged], error) {
	row, err := c.row(id)
	if err != nil {
		return Decision[ConnectionChanged]{}, err
	}
	return answering(ConnectionChanged{Row: row, Dropped: row.KeyRef}, &ConnectionModelsSet{ConnectionID: id}, &ConnectionDeleted{ConnectionID: id}), nil
}

func (c *Connections) row(id hub.ConnectionID) (hub.Connection, error) {
	row, ok := c.held[id]
	if !ok {
		return row, hub.NewError(hub.CodeConnectionNotFound, "there is no such connection").With("connection_id", id)
	}
	return row, nil
}

// unchanged returns the row if its servers and its key are those that the caller has seen.
func (c *Connections) unchanged(seen *hub.Connection) (hub.Connection, error) {
	row, err := c.row(seen.ConnectionID)
	if err == nil && (row.Endpoint != seen.Endpoint || row.Region != seen.Region || row.KeyRef != seen.KeyRef || row.KeyOrigin != seen.KeyOrigin) {
		return row, hub.NewError(hub.CodeVersionConflict, "the connection was changed meanwhile").WithFix("look at it, and try again")
	}
	return row, err
}

// SortedConnections returns connections, the first made first.
func SortedConnections(held []hub.Connection) []hub.Connection {
	slices.SortFunc(held, func(a, b hub.Connection) int {
		x, _ := SeqOf(PrefixConnection, string(a.ConnectionID))
		y, _ := SeqOf(PrefixConnection, string(b.ConnectionID))
		return int(x) - int(y)
	})
	return held
}

// ConnectionRowKey is the key of a connection in TableConnection and TableConnectionModel.
func ConnectionRowKey(id hub.ConnectionID) []byte { return []byte(id) }

// Apply changes the state by one fact. Applying a fact twice has the same effect as once.
func (c *Connections) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *ConnectionSet:
		row := f.Connection
		if row.ConnectionID == "" {
			row.ConnectionID = hub.ConnectionID(IDAt(PrefixConnection, at.Seq))
		}
		c.held[row.ConnectionID] = row
		rows.Put(TableConnection, ConnectionRowKey(row.ConnectionID), mustJSON(row))
	case *ConnectionDeleted:
		delete(c.held, f.ConnectionID)
		rows.Put(TableConnection, ConnectionRowKey(f.ConnectionID), nil)
	case *ConnectionModelsSet:
		var value []byte
		if len(f.Models) > 0 {
			value = mustJSON(f.Models)
		}
		rows.Put(TableConnectionModel, ConnectionRowKey(f.ConnectionID), value)
	default:
		panic(fmt.Sprintf("core: the connections were given the fact %T", f))
	}
}
