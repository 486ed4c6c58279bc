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
	InstanceID            InstanceID  `json:"instance_id"`
	ProtocolVersion       string      `json:"protocol_version"`
	Implementation        string      `json:"implementation"`
	ImplementationVersion string      `json:"implementation_version"`
	DefaultChannel        ChannelName `json:"default_channel"`
	MaxBodyChars          int         `json:"max_body_chars"`
	MaxAttachmentChars    int         `json:"max_attachment_chars"`
	MaxAttachments        int         `json:"max_attachments"`
	Features              []Feature   `json:"features"`
	MessageKinds          []Kind      `json:"message_kinds"`
	StoragePath           string      `json:"storage_path"`
	AllowRemote           bool        `json:"allow_remote"`
	HubUser               string      `json:"hub_user,omitempty"`   // the hub's own user; only in answers to other users of the machine
	Proof                 string      `json:"proof,omitempty"`      // that the hub has its store's key; only where the call gave a nonce
	StoreGone             bool        `json:"store_gone,omitempty"` // the store's folder is not at its path any more: the hub ends
	Commit                string      `json:"commit"`               // that the program was built from; empty: the build does not know it
	StoreFormat           int         `json:"store_format"`         // the least format that a program must know to understand the store
	StoreFormatKnown      int         `json:"store_format_known"`   // the newest format that this program knows
}

// Bootstrap holds what an agent needs to begin.
type Bootstrap struct {
	AgentID         AgentID     `json:"agent_id"`
	Session         *Session    `json:"session"`
	LatestVisibleID MessageID   `json:"latest_visible_id"`
	LiveAgents      []Session   `json:"live_agents"` // the longest rows are left out where they are too many bytes; then More has it
	DefaultChannel  ChannelName `json:"default_channel"`
	RoomID          *RoomID     `json:"room_id"`
	Hub             Info        `json:"hub"`
	More            More        `json:"more,omitempty"`
}

// AppStatus is the operator's view of the running hub.
type AppStatus struct {
	Version       string             `json:"version"`
	InstanceID    InstanceID         `json:"instance_id"`
	PID           int                `json:"pid"`
	UptimeSec     float64            `json:"uptime_sec"`
	StoragePath   string             `json:"storage_path"`
	ListenAddress string             `json:"listen_address"`
	Counts        Counts             `json:"counts"`
	Search        SearchStatus       `json:"search"`
	Journal       JournalStatus      `json:"journal"`
	Quarantined   []QuarantinedActor `json:"quarantined"`
	Adapters      []string           `json:"adapters"`
	Asleep        []AsleepAgent      `json:"asleep"` // at most 100, the longest first
	Paused        []Pause            `json:"paused"` // the pauses in force, the earliest first
	Muted         []Mute             `json:"muted"`  // the mutes in force, the earliest first
	// Salvaged says what the store lacks, if it was brought up from a damaged one. Its
	// lists have at most SalvageShown entries.
	Salvaged *Salvage   `json:"salvaged"`
	Users    LocalUsers `json:"users"` // of the machine
}

// AsleepAgent is an agent, also one that never registered and acts all the same, that has direct
// messages which it has neither seen nor been told of. For AsleepAfter it has made no call, and
// nothing waited that would have woken it.
type AsleepAgent struct {
	AgentID AgentID `json:"agent_id"`
	RoomID  *RoomID `json:"room_id"` // that was told; nil: there is none
	Unread  int     `json:"unread"`  // of these direct messages, up to MaxUnread
	Since   Time    `json:"since"`   // when the first of them was stored
}

// Counts holds the numbers of live rows; Messages counts the messages that can be read.
type Counts struct {
	Sessions    int   `json:"sessions"`
	Channels    int   `json:"channels"`
	Messages    int64 `json:"messages"`
	OpenTasks   int   `json:"open_tasks"`
	Leases      int   `json:"leases"`
	ParkedPolls int   `json:"parked_polls"`
	Spawns      int   `json:"spawns"` // that have not ended
}

// SearchStatus is the state of the search index.
type SearchStatus struct {
	Open      bool  `json:"open"`      // rows can be searched
	Documents int64 `json:"documents"` // how many rows it holds
	Behind    int64 `json:"behind"`    // how many it has not taken in yet
	// LeftSec is how long the index needs for these, in seconds, at the rate of the last
	// seconds. It is nil while that is not known, and when none is behind.
	LeftSec *float64 `json:"left_sec"`
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
	Head       Seq          `json:"head"`
	LastSyncMS float64      `json:"last_sync_ms"` // duration of the last synced commit
	FreeBytes  int64        `json:"free_bytes"`   // on the store's disk
	State      JournalState `json:"state"`
}

// QuarantinedActor is an owner whose facts could not be applied; everything else
// goes on.
type QuarantinedActor struct {
	Owner  string `json:"owner"`
	Seq    Seq    `json:"seq"` // the record that failed
	Reason string `json:"reason"`
}

// Shutdown tells whether and when the hub will stop.
type Shutdown struct {
	Pending  bool    `json:"pending"`
	At       *Time   `json:"at"`
	DelaySec float64 `json:"delay_sec"`
}
