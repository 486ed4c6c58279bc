package core

import (
	"encoding/json"

	"hubcli/hub"
)

// The facts of rooms: 600 to 699.
const (
	factDecisionAdded FactType = 600
	factArtifactAdded FactType = 601

	factInviteCreated FactType = 620
	factInviteUsed    FactType = 621
	factInviteEnded   FactType = 622

	factSeatTaken FactType = 640
	factSeatMoved FactType = 641
	factSeatFreed FactType = 642
)

func roomFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factDecisionAdded: func() Fact { return &DecisionAdded{} },
		factArtifactAdded: func() Fact { return &ArtifactAdded{} },
		factInviteCreated: func() Fact { return &InviteCreated{} },
		factInviteUsed:    func() Fact { return &InviteUsed{} },
		factInviteEnded:   func() Fact { return &InviteEnded{} },
		factSeatTaken:     func() Fact { return &SeatTaken{} },
		factSeatMoved:     func() Fact { return &SeatMoved{} },
		factSeatFreed:     func() Fact { return &SeatFreed{} },
	}
}

// StoredSeat is an agent's place in a room, as stored. A row without a value
// says that the agent no longer has a seat there.
type StoredSeat struct {
	SeatID   hub.SeatID   `json:"seat_id"`
	RoomID   hub.RoomID   `json:"room_id"`
	AgentID  hub.AgentID  `json:"agent_id"`
	Role     string       `json:"role,omitempty"`
	Harness  string       `json:"harness,omitempty"`
	InviteID hub.InviteID `json:"invite_id,omitempty"` // by which it joined
	SpawnID  hub.SpawnID  `json:"spawn_id,omitempty"`  // for which it was made
	By       hub.AgentID  `json:"by,omitempty"`        // that made the invite; empty also in seats of earlier versions
	JoinedAt hub.Time     `json:"joined_at"`
}

// Acting reports whether the seat was given for acting in the room. An agent
// that has joined came by an invite or a spawn, and only such a seat has a
// role.
func (s *StoredSeat) Acting() bool { return s.InviteID == "" && s.SpawnID == "" && s.Role == "" }

// SeatKey is the key of an agent's seat in a room. Without an agent it is the
// prefix of all seats of the room.
func SeatKey(room hub.RoomID, agent hub.AgentID) []byte { return OwnedKey(room, []byte(agent)) }

// SeatEndedKey is the key of a seat that an agent has no longer since a record. Without a
// record and an agent it is the prefix of those of the room, by record.
func SeatEndedKey(room hub.RoomID, end hub.Seq, agent hub.AgentID) []byte {
	if end == 0 {
		return OwnedKey(room, nil)
	}
	return OwnedKey(room, append(SeqKey(end), agent...))
}

// SeatByAgentKey is the key of a seat in the list of its agent's seats, in the
// order of joining. With an empty seat it is the prefix of the list.
func SeatByAgentKey(agent hub.AgentID, seat hub.SeatID) []byte {
	key := append([]byte(agent), 0)
	if seq, ok := SeqOf(PrefixSeat, string(seat)); ok {
		key = append(key, SeqKey(seq)...)
	}
	return key
}

// SeatTaken says that the agent has a seat in the room from now on.
type SeatTaken struct {
	Agent   hub.AgentID  `json:"agent"`
	Role    string       `json:"role,omitempty"`
	Harness string       `json:"harness,omitempty"`
	Invite  hub.InviteID `json:"invite,omitempty"`
	Spawn   hub.SpawnID  `json:"spawn,omitempty"`
	By      hub.AgentID  `json:"by,omitempty"` // that made the invite
	// After is the record with which the agent acted in the room, if the seat
	// was given for that.
	After hub.Seq `json:"after,omitempty"`
}

// FactType implements Fact.
func (*SeatTaken) FactType() FactType { return factSeatTaken }

// seat returns the seat that the fact creates at a position.
func (f *SeatTaken) seat(room hub.RoomID, at Position) StoredSeat {
	return StoredSeat{
		SeatID: hub.SeatID(IDAt(PrefixSeat, at.Seq)), RoomID: room, AgentID: f.Agent,
		Role: f.Role, Harness: f.Harness, InviteID: f.Invite, SpawnID: f.Spawn, By: f.By, JoinedAt: at.Now.Wall,
	}
}

// SeatMoved renames the seat of From to Seat.AgentID. It carries the whole
// seat, so applying it twice has the same effect as once.
type SeatMoved struct {
	From hub.AgentID `json:"from"`
	Seat StoredSeat  `json:"seat"`
}

// FactType implements Fact.
func (*SeatMoved) FactType() FactType { return factSeatMoved }

// SeatFreed says that the agent no longer has this seat. Either another agent
// needed the place, or the agent got the seat by acting in the room and is long
// gone or has joined.
type SeatFreed struct {
	Agent hub.AgentID `json:"agent"`
	Seat  hub.SeatID  `json:"seat"`
}

// FactType implements Fact.
func (*SeatFreed) FactType() FactType { return factSeatFreed }

// StoredInvite is an invite as stored: its row without the code, and the nonce
// from which the code is computed. State is active until the invite is used up,
// is revoked, or a command meets it after its deadline.
type StoredInvite struct {
	hub.Invite
	Nonce      string      `json:"nonce"`
	DeadlineMS int64       `json:"deadline_ms"` // hub time
	By         hub.AgentID `json:"by,omitempty"`
	Proved     bool        `json:"proved,omitempty"` // see InviteCreated
}

// InviteKey is the key of an invite among those of its room.
func InviteKey(room hub.RoomID, id hub.InviteID) []byte {
	seq, _ := SeqOf(PrefixInvite, string(id))
	return OwnedKey(room, SeqKey(seq))
}

// InviteCreated records a new invite to the room. The code itself is not
// stored: it is computed from Nonce and looked up by CodeHash.
type InviteCreated struct {
	Nonce      string        `json:"nonce"`
	CodeHash   []byte        `json:"code_hash"`
	Project    hub.ProjectID `json:"project"`
	Role       string        `json:"role,omitempty"`
	Handle     hub.AgentID   `json:"handle,omitempty"`
	Harness    string        `json:"harness,omitempty"`
	TTLSec     int           `json:"ttl_sec"`
	MaxUses    int           `json:"max_uses"`
	By         hub.AgentID   `json:"by,omitempty"`
	DeadlineMS int64         `json:"deadline_ms"` // hub time
	// Proved says that the call has proved the session of By, or was the operator's. Invites
	// of earlier versions do not say it.
	Proved bool `json:"proved,omitempty"`
}

// FactType implements Fact.
func (*InviteCreated) FactType() FactType { return factInviteCreated }

// invite returns the invite that the fact creates at a position.
func (f *InviteCreated) invite(room hub.RoomID, at Position) StoredInvite {
	return StoredInvite{
		Invite: hub.Invite{
			InviteID: hub.InviteID(IDAt(PrefixInvite, at.Seq)), ProjectID: f.Project, RoomID: room,
			Role: f.Role, Handle: f.Handle, Harness: f.Harness, TTLSec: f.TTLSec, MaxUses: f.MaxUses,
			State: hub.InviteActive, CreatedAt: at.Now.Wall, ExpiresAt: at.Now.Wall + hub.Time(f.TTLSec)*1000,
		},
		Nonce: f.Nonce, DeadlineMS: f.DeadlineMS, By: f.By, Proved: f.Proved,
	}
}

// InviteUsed says that an invite has now been accepted Uses times.
type InviteUsed struct {
	Invite hub.InviteID `json:"invite"`
	Uses   int          `json:"uses"`
}

// FactType implements Fact.
func (*InviteUsed) FactType() FactType { return factInviteUsed }

// InviteEnded says that an invite can no longer be accepted: it has expired or
// was revoked.
type InviteEnded struct {
	Invite hub.InviteID    `json:"invite"`
	State  hub.InviteState `json:"state"`
}

// FactType implements Fact.
func (*InviteEnded) FactType() FactType { return factInviteEnded }

// DecisionAdded records a decision of the room.
type DecisionAdded struct {
	Title    string          `json:"title"`
	Note     string          `json:"note,omitempty"`
	By       hub.AgentID     `json:"by,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	User     string          `json:"local_user,omitempty"` // the other user of the machine whose program records it
}

// Sign implements Signed.
func (f *DecisionAdded) Sign(user string) { f.User = user }

// FactType implements Fact.
func (*DecisionAdded) FactType() FactType { return factDecisionAdded }

// row returns the row that the fact creates at a position.
func (f *DecisionAdded) row(room hub.RoomID, at Position) hub.Decision {
	return hub.Decision{
		DecisionID: hub.DecisionID(IDAt(PrefixDecision, at.Seq)), RoomID: room, Title: f.Title, Note: f.Note,
		By: f.By, User: f.User, Metadata: objectOf(f.Metadata), CreatedAt: at.Now.Wall,
	}
}

// ArtifactAdded records a new version of a title. Its content is stored under
// the sequence number of the record.
type ArtifactAdded struct {
	Title       string      `json:"title"`
	Kind        string      `json:"kind"`
	By          hub.AgentID `json:"by,omitempty"`
	Version     int64       `json:"version"`
	Size        int64       `json:"size"`
	SHA256      string      `json:"sha256"`
	ContentType string      `json:"content_type"`
	User        string      `json:"local_user,omitempty"` // the other user of the machine whose program adds it
}

// Sign implements Signed.
func (f *ArtifactAdded) Sign(user string) { f.User = user }

// FactType implements Fact.
func (*ArtifactAdded) FactType() FactType { return factArtifactAdded }

// row returns what the fact makes at a position.
func (f *ArtifactAdded) row(room hub.RoomID, at Position) hub.Artifact {
	return hub.Artifact{
		ArtifactID: hub.ArtifactID(IDAt(PrefixArtifact, at.Seq)), RoomID: room, Title: f.Title, Kind: f.Kind,
		By: f.By, User: f.User, Version: f.Version, Size: f.Size, SHA256: f.SHA256, ContentType: f.ContentType,
		CreatedAt: at.Now.Wall,
	}
}

// LatestArtifact is the latest version of a title, as stored.
type LatestArtifact struct {
	Version  int64          `json:"version"`
	Artifact hub.ArtifactID `json:"artifact"`
}
