package hub

import (
	"context"
	"net/http"
	"time"
)

// Limits of passes and of the codes that are exchanged for them.
const (
	MaxPasses    = 32               // in force at once; the earliest gives way to the next
	MaxPassCodes = 16               // not yet exchanged; the earliest gives way to the next
	PassCodeLife = 2 * time.Minute  // of a code
	PassLife     = 12 * time.Hour   // of a pass, unless its code says otherwise
	MaxPassLife  = 720 * time.Hour  // thirty days
	MinPassLife  = 10 * time.Second // a shorter one would be over before its page is shown
)

// CodePassNotFound refuses the end of a pass that is not in force.
var CodePassNotFound = define(CodeInfo{
	Code: "pass_not_found", Status: http.StatusNotFound, Operator: true,
	HTTP: "GET /v1/passes lists the passes in force",
	CLI:  "hubcli app open --list shows the passes in force",
})

// CodePassSignature refuses a call whose signature proves no pass.
var CodePassSignature = define(CodeInfo{
	Code: "pass_signature", Status: http.StatusForbidden, Operator: true,
	HTTP: "have the hub prove itself with GET /v1/passes/{pass_id}/proof and sign the call with the key of this run of the hub, a new counter and the hash of its body",
	CLI:  "open the console anew with hubcli app open",
})

// PassID names a pass: pass_<record>. It is no secret.
type PassID string

// PassCodeInput asks for a code. TTLSec is the life of the pass that it is exchanged
// for; 0: PassLife.
type PassCodeInput struct {
	TTLSec int `json:"ttl_sec,omitempty" bounds:"10..2592000"` // Life of the pass; left out: twelve hours.
}

// PassCode is exchanged once for a pass.
type PassCode struct {
	Code      string `json:"code"`                         // A secret that is good once.
	ExpiresAt Time   `json:"expires_at"`                   // Of the code.
	TTLSec    int    `json:"ttl_sec" bounds:"10..2592000"` // Of the pass.
}

// PassInput exchanges a code for a pass. Label says who asks, for the list.
type PassInput struct {
	Code  string `json:"code" bounds:"1..64 runes"`
	Label string `json:"label,omitempty" bounds:"..64 runes"` // What the program calls itself, for the list.
}

// Pass stands for the operator's token in a program that must not have it, such as a page
// in a browser.
type Pass struct {
	PassID    PassID `json:"pass_id" bounds:"like ^pass_[0-9a-z]+$"`
	Label     string `json:"label" bounds:"..64 runes"` // What the program that has it calls itself; may be empty.
	CreatedAt Time   `json:"created_at"`
	ExpiresAt Time   `json:"expires_at"`
}

// IssuedPass is a pass with its secret, which only the answer to the exchange has.
type IssuedPass struct {
	Pass
	Token string `json:"token"` // A secret. It is sent as X-Hub-Operator.
}

// PassProof proves to a page that it reaches the hub that has issued its pass.
type PassProof struct {
	Run    string `json:"run"`                                // Of the process of the hub. Another run has other keys.
	Ended  bool   `json:"ended"`                              // The pass is not in force.
	Proof  string `json:"proof" bounds:"like ^[0-9a-f]{64}$"` // Of all of it, for the nonce of the page.
	Sealed string `json:"sealed,omitempty"`                   // The pass, encrypted; in the answer to a signed call.
}

// Passes let programs act as the operator without the operator's own secret: for a time,
// and until the operator ends the pass.
type Passes interface {
	// CreatePassCode makes a code. It lives in memory alone. Operator only, and not with a
	// pass: an ended pass must not live on in another.
	CreatePassCode(ctx context.Context, in PassCodeInput) (PassCode, error)
	// CreatePass exchanges a code. A code is good once. Errors: operator_required if the
	// code is unknown, used or over.
	CreatePass(ctx context.Context, in PassInput) (Outcome[IssuedPass], error)
	// Passes lists the passes in force, the latest first. Operator only.
	Passes(ctx context.Context) ([]Pass, error)
	// EndPass ends a pass. Operator only. Errors: pass_not_found.
	EndPass(ctx context.Context, id PassID) (Outcome[Pass], error)
}
