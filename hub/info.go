package hub

// Feature is an ability that hub-info lists once it works.
type Feature string

// The features of the contract.
const (
	FeatureSSE              Feature = "sse"
	FeatureRelay            Feature = "relay"
	FeatureLongPollKeep     Feature = "long_poll_keepalive"
	FeatureSubtaskRollup    Feature = "subtask_rollup"
	FeatureRPCKinds         Feature = "rpc_kinds"
	FeatureCapabilityFilter Feature = "capability_filter"
	FeatureShutdownControl  Feature = "shutdown_control"
	FeatureSessionRename    Feature = "session_rename"
	FeatureIdempotency      Feature = "hub:idempotency"
	FeatureFencing          Feature = "hub:fencing"
	FeatureLeaseWait        Feature = "hub:lease_wait"
	FeatureRooms            Feature = "hub:rooms"
	FeatureWatch            Feature = "hub:watch"
	FeatureSearch           Feature = "hub:search"
	FeatureAutoRooms        Feature = "hub:auto_rooms" // an agent that needs a room gets one for its repository
)

// ProtocolVersion is the version of the wire contract.
const ProtocolVersion = "1"

// Implementation is the name this hub gives itself in hub-info.
const Implementation = "hubcli"

// Info tells a client which hub it speaks to.
type Info struct {
	InstanceID            InstanceID  `json:"instance_id" bounds:"1.. runes"`
	ProtocolVersion       string      `json:"protocol_version" bounds:"is \"1\""`
	Implementation        string      `json:"implementation"`
	ImplementationVersion string      `json:"implementation_version"`
	DefaultChannel        ChannelName `json:"default_channel" bounds:"is \"general\""`
	MaxBodyChars          int         `json:"max_body_chars" bounds:"1.."`
	MaxAttachmentChars    int         `json:"max_attachment_chars" bounds:"1.."`
	MaxAttachments        int         `json:"max_attachments" bounds:"0.."`
	Features              []Feature   `json:"features"`
	MessageKinds          []Kind      `json:"message_kinds" bounds:"9..9 items"`
	StoragePath           string      `json:"storage_path"`
	AllowRemote           bool        `json:"allow_remote"`
	// The hub's own user. Only in answers to other users of the machine.
	HubUser string `json:"hub_user,omitempty" bounds:"1..256 runes"`
	Proof   string `json:"proof,omitempty" bounds:"like ^[0-9a-f]{64}$"` // Where the call gave a nonce.
	// The folder of the store was moved, exchanged or deleted while the hub ran. The hub takes nothing more and
	// ends.
	StoreGone bool `json:"store_gone,omitempty"`
	// The commit that the program was built from; empty if the build does not know it.
	Commit string `json:"commit"`
	// The format of the store: a program must know this one to understand it.
	StoreFormat      int `json:"store_format" bounds:"0.."`
	StoreFormatKnown int `json:"store_format_known" bounds:"0.."` // The newest format that this program knows.
}

// Bootstrap holds what an agent needs to begin.
type Bootstrap struct {
	AgentID         AgentID   `json:"agent_id"`
	Session         *Session  `json:"session"`
	LatestVisibleID MessageID `json:"latest_visible_id" bounds:"as Cursor"`
	// By their ids. They end at about 2 MiB: then the longest rows are left out.
	LiveAgents     []Session   `json:"live_agents"`
	DefaultChannel ChannelName `json:"default_channel" bounds:"as Name"`
	RoomID         *RoomID     `json:"room_id"`
	Hub            Info        `json:"hub"`
	More           More        `json:"more,omitempty"`
}

// AppStatus is the operator's view of the running hub.
type AppStatus struct {
	Version       string             `json:"version"`
	InstanceID    InstanceID         `json:"instance_id" bounds:"1.. runes"`
	PID           int                `json:"pid" bounds:"1.."`
	UptimeSec     float64            `json:"uptime_sec" bounds:"0.."`
	StoragePath   string             `json:"storage_path"`
	ListenAddress string             `json:"listen_address"`
	Counts        Counts             `json:"counts"`
	Search        SearchStatus       `json:"search"`
	Journal       JournalStatus      `json:"journal"`
	Quarantined   []QuarantinedActor `json:"quarantined"`
	Adapters      []string           `json:"adapters"`
	Asleep        []AsleepAgent      `json:"asleep" bounds:"..100 items"`  // The longest first.
	Paused        []Pause            `json:"paused" bounds:"..1000 items"` // The pauses in force, the earliest first.
	Muted         []Mute             `json:"muted" bounds:"..1000 items"`  // The mutes in force, the earliest first.
	Salvaged      *Salvage           `json:"salvaged"`                     // Null: the store was not brought up from a damaged one.
	Users         LocalUsers         `json:"users"`                        // Whose calls the hub takes on its own machine.
}

// AsleepAgent is an agent, also one that never registered and acts all the same, that has direct
// messages which it has neither seen nor been told of. For AsleepAfter it has made no call, and
// nothing waited that would have woken it.
//
// API: An agent, not an id that nobody has ever used, with direct messages that it has neither seen nor been
// told of. For five minutes it has made no call, and no poll or watch of it has waited.
type AsleepAgent struct {
	AgentID AgentID `json:"agent_id"`
	RoomID  *RoomID `json:"room_id"`                 // The room that was told.
	Unread  int     `json:"unread" bounds:"1..1000"` // Of these direct messages; at most 1000 are counted.
	Since   Time    `json:"since"`                   // When the first of these messages was stored.
	// Its session was closed, so that nobody has to wake it: what it has not read is undelivered mail. Only where it
	// is true.
	Closed bool `json:"closed,omitempty"`
}

// Counts holds the numbers of live rows; Messages counts the messages that can be read.
type Counts struct {
	Sessions    int   `json:"sessions" bounds:"0.."`
	Channels    int   `json:"channels" bounds:"0.."`
	Messages    int64 `json:"messages" bounds:"0.."`
	OpenTasks   int   `json:"open_tasks" bounds:"0.."`
	Leases      int   `json:"leases" bounds:"0.."`
	ParkedPolls int   `json:"parked_polls" bounds:"0.."`
	Spawns      int   `json:"spawns" bounds:"0.."` // That have not ended.
}

// SearchStatus is the state of the search index.
type SearchStatus struct {
	Open      bool  `json:"open"`                   // Rows can be searched.
	Documents int64 `json:"documents" bounds:"0.."` // How many rows it holds.
	Behind    int64 `json:"behind" bounds:"0.."`    // Rows that the index has not taken in yet.
	// How long the index needs for them at the rate of the last seconds; null while that is not known, and if there
	// are none.
	LeftSec *float64 `json:"left_sec" bounds:"0.."`
}

// JournalState says whether the hub accepts writes.
type JournalState string

// The states of the journal.
const (
	JournalOK     JournalState = "ok"
	JournalFull   JournalState = "full"   // too little free space: writes answer 507
	JournalFailed JournalState = "failed" // a commit failed: the hub is about to exit
)

// JournalStatus is the health of the journal.
type JournalStatus struct {
	Head       Seq          `json:"head" bounds:"0.."`
	LastSyncMS float64      `json:"last_sync_ms" bounds:"0.."` // Duration of the last synced commit.
	FreeBytes  int64        `json:"free_bytes"`                // On the store's disk.
	State      JournalState `json:"state"`
}

// QuarantinedActor is an owner whose facts could not be applied; everything else
// goes on.
type QuarantinedActor struct {
	Owner  string `json:"owner"`
	Seq    Seq    `json:"seq" bounds:"0.."` // The record that failed.
	Reason string `json:"reason"`
}

// Shutdown tells whether and when the hub will stop.
type Shutdown struct {
	Pending  bool    `json:"pending"`
	At       *Time   `json:"at"`
	DelaySec float64 `json:"delay_sec" bounds:"0.."`
}
