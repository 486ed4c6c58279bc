package hub

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// ProviderID names a preset of a hosted provider, such as openai.
type ProviderID string

// ProviderCustom is the preset for a server of the operator's own choice.
const ProviderCustom ProviderID = "custom"

// ConnectionID names a connection, such as cn_1f.
type ConnectionID string

// Limits of connections.
const (
	MaxProviderConnections = 200
	MaxConnectionLabel     = 64    // characters
	MaxProviderKey         = 2_000 // bytes; every credential store takes as much
	MaxProviderModels      = 2_000 // kept of one connection
	MaxProviderModelBytes  = 200   // of the id and of the name of a model
	MaxEndpointBytes       = 500
)

// VerifyWait is the longest time that the verification of a connection takes.
const VerifyWait = 30 * time.Second

// ProviderRegion is a place where a provider serves.
type ProviderRegion struct {
	Region   string `json:"region"`
	Endpoint string `json:"endpoint"`
}

// ProviderParam is a part of a provider's addresses that only its user knows.
type ProviderParam struct {
	Name  string   `json:"name"`
	Env   []string `json:"env"` // Variables of the hub that hold it.
	About string   `json:"about"`
}

// Provider is a preset of a hosted provider.
type Provider struct {
	ProviderID ProviderID `json:"provider_id"`
	Label      string     `json:"label"`
	EnvVar     string     `json:"env_var"` // The first of env; empty if there is none.
	Env        []string   `json:"env"`     // Variables that hold its key; the first that is set counts.
	// The base URL of the default region, with the parameters still in it; empty for custom.
	Endpoint      string           `json:"endpoint"`
	Regions       []ProviderRegion `json:"regions"`
	DefaultRegion string           `json:"default_region"` // May be empty.
	Params        []ProviderParam  `json:"params"`         // Parts of the addresses that only their user knows.
	KeyOptional   bool             `json:"key_optional"`
	Catalog       bool             `json:"catalog"`                  // It tells its models; otherwise the preset lists them.
	Note          string           `json:"note"`                     // May be empty.
	Docs          string           `json:"docs"`                     // May be empty.
	Source        string           `json:"source"`                   // Where the row comes from.
	Checked       string           `json:"checked" bounds:"as date"` // When that was looked up.
}

// ProviderTarget says which servers of a provider are meant.
type ProviderTarget struct {
	ProviderID ProviderID        `json:"provider_id"`
	Region     string            `json:"region"`
	Endpoint   string            `json:"endpoint"` // the base URL
	Params     map[string]string `json:"params"`
	// Origins are the servers that may get the key. A key that was given for others is
	// asked for again.
	Origins []string `json:"origins"`
	Env     []string `json:"-"` // variables that hold the key, the first wins
	// KeyOptional: the servers answer without a key.
	KeyOptional bool `json:"-"`
}

// Origin names the origins as one text, to compare them.
func (t *ProviderTarget) Origin() string { return strings.Join(t.Origins, " ") }

// ProviderPrice is what a model costs, per million tokens.
type ProviderPrice struct {
	Input    float64 `json:"input" bounds:"0.."` // For a million tokens.
	Output   float64 `json:"output" bounds:"0.."`
	Currency string  `json:"currency"`
}

// ProviderModel is a model of a provider. Zero and nil: the provider does not tell.
type ProviderModel struct {
	ModelID       string         `json:"model_id" bounds:"..200 runes"`
	Name          string         `json:"name" bounds:"..200 runes"`   // May be empty.
	ContextTokens int64          `json:"context_tokens" bounds:"0.."` // 0: the provider does not tell.
	OutputTokens  int64          `json:"output_tokens" bounds:"0.."`  // 0: the provider does not tell.
	Price         *ProviderPrice `json:"price"`
}

// ProviderFault says why a provider could not be asked.
type ProviderFault string

// The faults.
const (
	FaultNoKey         ProviderFault = "no_key"         // there is no key, or it cannot be read
	FaultWrongKey      ProviderFault = "wrong_key"      // the provider refuses it
	FaultWrongRegion   ProviderFault = "wrong_region"   // the provider serves it elsewhere
	FaultRateLimited   ProviderFault = "rate_limited"   // too many calls, or no credit
	FaultNoNetwork     ProviderFault = "no_network"     // no connection comes about
	FaultTimeout       ProviderFault = "timeout"        // no answer in time
	FaultTLS           ProviderFault = "tls"            // the certificate is not trusted
	FaultCaptivePortal ProviderFault = "captive_portal" // the network answers in place of the provider
	FaultBadAnswer     ProviderFault = "bad_answer"     // something else answers, or too much
	FaultProviderDown  ProviderFault = "provider_down"  // the provider says that it has trouble
)

// KeyProof says what a verification has shown of a key.
type KeyProof string

// The proofs.
const (
	KeyProved    KeyProof = "proved"     // the provider has accepted it where it refuses others
	KeyNotProved KeyProof = "not_proved" // the provider answers everybody, so its answer proves nothing
	KeyNone      KeyProof = "none"       // there is none, and none is needed
)

// ConnectionCheck is the outcome of a verification.
type ConnectionCheck struct {
	At      Time          `json:"at"`
	OK      bool          `json:"ok"`
	Key     KeyProof      `json:"key" bounds:"or empty"`   // not_proved: the provider answers everybody. Empty if ok is false.
	Fault   ProviderFault `json:"fault" bounds:"or empty"` // Of one that did not.
	Message string        `json:"message"`                 // What is wrong; empty if ok.
	Fix     string        `json:"fix"`
}

// KeySource says where the key of a connection is.
type KeySource string

// The sources of keys.
const (
	KeySourceNone   KeySource = "none"   // there is no key
	KeySourceOS     KeySource = "os"     // the credential store of the operating system
	KeySourceEnv    KeySource = "env"    // a variable of the hub's environment
	KeySourceNeeded KeySource = "needed" // the endpoint has changed, and the key must be given again
)

// Connection is a hosted provider with the place of its key. It never holds the key.
type Connection struct {
	ConnectionID ConnectionID      `json:"connection_id" bounds:"like ^cn_[0-9a-z]+$"`
	Label        string            `json:"label" bounds:"..64 runes"`
	ProviderID   ProviderID        `json:"provider_id"`
	Region       string            `json:"region"`   // Empty: the provider has none.
	Endpoint     string            `json:"endpoint"` // The base URL.
	Params       map[string]string `json:"params"`
	// Where the key is; needed: the servers have changed, and it has to be given again.
	KeySource KeySource `json:"key_source"`
	// The variable that holds the key, or that a spawned harness gets; may be empty.
	KeyVariable    string           `json:"key_variable"`
	KeyFingerprint string           `json:"key_fingerprint" bounds:"like ^([0-9a-f]{8})?$"` // Tells keys apart. Salted with a secret of the store.
	KeyOrigin      string           `json:"key_origin"`                                     // The servers for which the key was given.
	KeyRef         string           `json:"key_ref"`                                        // Names the key in its source. Never the key.
	Check          *ConnectionCheck `json:"check"`                                          // The latest verification; null: there was none.
	Models         int              `json:"models" bounds:"0.."`                            // How many are kept.
	ModelsAt       *Time            `json:"models_at"`
	CreatedAt      Time             `json:"created_at"`
	UpdatedAt      Time             `json:"updated_at"`
}

// ConnectionInput creates a connection. At most one of Key, KeyVariable and EnvCredential
// is set. Without all of them the hub looks in the credential store under the name of the
// provider, and then in the variables of the provider.
//
// API: At most one of key, key_variable, env_credential and no_key.
type ConnectionInput struct {
	ProviderID    ProviderID        `json:"provider_id" bounds:"name 1..MaxNameChars"`
	Label         string            `json:"label,omitempty" bounds:"..64 runes"` // Unique, whatever the case. That of the provider if left out.
	Region        string            `json:"region,omitempty" bounds:"name ..MaxNameChars"`
	Endpoint      string            `json:"endpoint,omitempty" bounds:"name ..MaxEndpointBytes"` // Of custom alone: the base URL.
	Params        map[string]string `json:"params,omitempty" bounds:"..4 members"`
	Key           string            `json:"key,omitempty" bounds:"..MaxProviderKey runes"` // Is kept in the credential store.
	KeyVariable   string            `json:"key_variable,omitempty" bounds:"..128 runes"`   // A variable of the environment of the hub.
	EnvCredential bool              `json:"env_credential,omitempty"`                      // A variable of the provider must hold the key.
	NoKey         bool              `json:"no_key,omitempty"`                              // The server needs no key.
}

// ConnectionKeyInput gives the key of a connection anew, as ConnectionInput does.
//
// API: At most one of key, key_variable, env_credential and no_key.
type ConnectionKeyInput struct {
	Key           string `json:"key,omitempty" bounds:"..MaxProviderKey runes"`
	KeyVariable   string `json:"key_variable,omitempty" bounds:"..128 runes"`
	EnvCredential bool   `json:"env_credential,omitempty"`
	NoKey         bool   `json:"no_key,omitempty"`
}

// ConnectionUpdate changes a connection; nil leaves a member as it is. If other servers
// would get the key, the connection has none afterward.
//
// API: At least one of them.
type ConnectionUpdate struct {
	Label    *string `json:"label,omitempty" bounds:"..64 runes"`
	Region   *string `json:"region,omitempty" bounds:"..200 runes"` // Empty: the default one.
	Endpoint *string `json:"endpoint,omitempty" bounds:"..500 runes"`
}

// ConnectionModels are the models that a provider told last.
type ConnectionModels struct {
	ConnectionID ConnectionID    `json:"connection_id" bounds:"like ^cn_[0-9a-z]+$"`
	Label        string          `json:"label"`
	ProviderID   ProviderID      `json:"provider_id"`
	FetchedAt    *Time           `json:"fetched_at"` // Null: the connection was never verified with success.
	AgeSec       int64           `json:"age_sec" bounds:"0.."`
	Static       bool            `json:"static"` // The preset lists them: the provider does not tell.
	Models       []ProviderModel `json:"models" bounds:"..2000 items"`
}

// CheckConnectionLabel refuses a label that cannot be shown or given at a command line.
func CheckConnectionLabel(label string) error {
	switch {
	case strings.TrimSpace(label) != label || label == "":
		return Invalid("label", "a label begins and ends with a visible character")
	case utf8.RuneCountInString(label) > MaxConnectionLabel:
		return Errorf(CodeInvalid, "a label has at most %d characters", MaxConnectionLabel).With("field", "label")
	case strings.ContainsFunc(label, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }):
		return Invalid("label", "a label has no control characters")
	}
	return nil
}

// Connections keeps connections to hosted providers. References are ids, labels, or
// beginnings of ids that fit one connection alone. All calls but Providers are the
// operator's.
type Connections interface {
	// Providers lists the presets.
	Providers(ctx context.Context) ([]Provider, error)
	// Connections lists the connections, the first made first.
	Connections(ctx context.Context) ([]Connection, error)
	// CreateConnection makes one. Errors: invalid, provider_not_found, label_taken,
	// limit_reached, credential_unresolved, credential_store_unavailable.
	CreateConnection(ctx context.Context, in ConnectionInput) (Outcome[Connection], error)
	// UpdateConnection changes one. Errors: connection_not_found, ambiguous, invalid,
	// label_taken.
	UpdateConnection(ctx context.Context, ref string, in ConnectionUpdate) (Outcome[Connection], error)
	// SetConnectionKey gives the key anew. Errors: connection_not_found, ambiguous,
	// credential_unresolved, credential_store_unavailable.
	SetConnectionKey(ctx context.Context, ref string, in ConnectionKeyInput) (Outcome[Connection], error)
	// VerifyConnection asks the provider for its models, and proves the key. A failure
	// leaves the models that are kept as they are. Errors: connection_not_found,
	// ambiguous, provider_failed.
	VerifyConnection(ctx context.Context, ref string) (Outcome[Connection], error)
	// ConnectionModels returns the models that are kept. Errors: connection_not_found,
	// ambiguous.
	ConnectionModels(ctx context.Context, ref string) (ConnectionModels, error)
	// DeleteConnection removes a connection, and its key from the credential store.
	// Errors: connection_not_found, ambiguous, credential_store_unavailable.
	DeleteConnection(ctx context.Context, ref string) (Outcome[Connection], error)
}
