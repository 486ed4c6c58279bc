package hub

import (
	"context"
	"time"
)

// LicenseState is what this machine knows of its license without a network.
type LicenseState string

// The states.
const (
	LicenseNone         LicenseState = "unlicensed"    // none is activated here; everything works
	LicensePending      LicenseState = "pending"       // an activation was not finished
	LicenseActive       LicenseState = "active"        // proved by a file that the license server has signed
	LicenseExpired      LicenseState = "expired"       // the license has ended
	LicenseStale        LicenseState = "stale"         // the license may go on, but the signed file is too old to prove it
	LicenseInvalid      LicenseState = "invalid"       // the signature, the product or the server is wrong
	LicenseOtherMachine LicenseState = "other_machine" // the file is for another machine
	LicenseClockBack    LicenseState = "clock_back"    // the clock of this machine is behind what it showed before
	LicenseUnverified   LicenseState = "unverified"    // what is needed to look at the file is not there
)

// LicensePlace is where a license key is kept.
type LicensePlace string

// The places.
const (
	LicenseInStore LicensePlace = "credential_store" // of the operating system
	LicenseInFile  LicensePlace = "file"             // 0600, in the data root
)

// Limits of licenses.
const (
	MaxLicenseKeyBytes = 4096
	MaxLicenseCall     = 90 * time.Second // of one call about the license
)

// License is the license of this machine, as it can be proved without a network. Times and
// names stand in a file that the license server has signed; they are null or absent where no
// such file could be verified.
type License struct {
	// pending: an activation was not finished; stale: the signed file is too old to prove that the license goes on;
	// unverified: what is needed to look at the file is not there.
	State LicenseState `json:"state"`
	Why   string       `json:"why" bounds:"1.. runes"` // One sentence.
	Fix   string       `json:"fix,omitempty"`          // What to do next.
	// The file that names the license server, the product and the public key.
	Config string `json:"config_path"`

	Server      string       `json:"server,omitempty"` // As it is configured.
	Account     string       `json:"account,omitempty"`
	Product     string       `json:"product,omitempty"`
	LicenseID   string       `json:"license_id,omitempty"`
	MachineID   string       `json:"machine_id,omitempty"`
	Fingerprint string       `json:"fingerprint,omitempty"` // An HMAC of the system's own id, keyed by the product.
	KeyIn       LicensePlace `json:"key_in,omitempty"`
	KeyPath     string       `json:"key_path,omitempty"` // The file that holds the key, or its name in the store.

	IssuedAt *Time `json:"issued_at"` // When the file was signed.
	// The end of the license; null: it does not end, or it is not known when.
	ExpiresAt *Time `json:"expires_at"`
	DaysLeft  *int  `json:"days_left" bounds:"0.."` // Whole days until expires_at.
	RenewAt   *Time `json:"renew_at"`               // Until when the signed file is good; activate again before.
}

// LicenseVerdict is what the license server says of a key.
type LicenseVerdict string

// The verdicts.
const (
	LicenseVerdictValid    LicenseVerdict = "valid"
	LicenseVerdictExpired  LicenseVerdict = "expired"
	LicenseVerdictSuspend  LicenseVerdict = "suspended"
	LicenseVerdictRevoked  LicenseVerdict = "revoked"         // it knows the key no longer, or has banned it
	LicenseVerdictNoPlace  LicenseVerdict = "machine_limit"   // more machines use it than it allows
	LicenseVerdictNoHolder LicenseVerdict = "machine_missing" // this machine has no place any more
	LicenseVerdictOther    LicenseVerdict = "other"           // see server_code
)

// LicenseVerification is the answer of the license server about the license of this machine.
type LicenseVerification struct {
	Valid      bool           `json:"valid"`
	Verdict    LicenseVerdict `json:"verdict"`
	Why        string         `json:"why" bounds:"1.. runes"` // One sentence.
	Fix        string         `json:"fix,omitempty"`          // What to do next.
	ServerCode string         `json:"server_code"`            // As the license server sent it.
	Server     string         `json:"server"`
	CheckedAt  Time           `json:"checked_at"`
	// The end of the license; null: it does not end, or it is not known when.
	ExpiresAt *Time `json:"expires_at"`
}

// LicenseActivateInput activates this machine.
type LicenseActivateInput struct {
	Key     string `json:"key" bounds:"1..MaxLicenseKeyBytes runes"`
	Confirm string `json:"confirm,omitempty" bounds:"..MaxNameChars runes"` // The digest of the plan.
}

// LicenseDeactivateInput gives this machine's place on the license back.
type LicenseDeactivateInput struct {
	Confirm string `json:"confirm,omitempty" bounds:"..MaxNameChars runes"` // The digest of the plan.
}

// Licenses is the license of this machine. All calls are the operator's. Nothing in the hub
// depends on a license: it is what the operator's own build of the program may ask for.
//
// Calls that ask the license server also answer license_unconfigured, license_unreachable,
// license_server_failed and license_not_genuine, and license_unreadable if what is saved
// cannot be read. Then nothing has changed here, unless the error says so.
type Licenses interface {
	// License says what is known without a network.
	License(ctx context.Context) (License, error)
	// VerifyLicense asks the license server. It changes nothing. Errors: license_not_active.
	VerifyLicense(ctx context.Context) (LicenseVerification, error)
	// ActivateLicense takes a place on the license for this machine, and saves the key and a
	// signed file. To do it again with the same key gets a new file and takes no other place.
	// Errors: confirmation_required, plan_changed; invalid, license_not_found, license_expired,
	// license_suspended, license_revoked, license_machine_limit, license_refused,
	// license_active if another key is active here, license_busy.
	ActivateLicense(ctx context.Context, in LicenseActivateInput) (License, error)
	// DeactivateLicense gives the place back and then deletes what is saved. Without an answer
	// of the license server everything stays. Errors: confirmation_required, plan_changed,
	// license_not_active, license_expired, license_suspended, license_refused, license_busy.
	DeactivateLicense(ctx context.Context, in LicenseDeactivateInput) (License, error)
}
