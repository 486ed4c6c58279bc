package hub

// Limits of signatures and encryption.
const (
	MaxCapsuleRecipients = 20  // of one encrypted capsule
	MaxCapsuleKeys       = 20  // with which one signature is checked
	MaxCapsuleKeyChars   = 400 // of a recipient or a public key
)

// CapsuleSigner says who signs a capsule that is exported.
//
// API: The signer of the file.
type CapsuleSigner struct {
	KeyID     string `json:"key_id"`
	PublicKey string `json:"public_key"` // With which others check the signature.
	File      string `json:"file"`       // Absolute path of the signature.
}

// CapsuleSignatureState says what a look at the signature beside a capsule has found. A
// signature that does not fit is no state: the capsule is refused.
type CapsuleSignatureState string

// The states of signatures.
const (
	SignatureNone       CapsuleSignatureState = "none"
	SignatureValid      CapsuleSignatureState = "valid"       // by a key that was named, and it fits the file
	SignatureUnknownKey CapsuleSignatureState = "unknown_key" // by another key, so nothing could be checked
)

// CapsuleSignature is what the signature beside a capsule says.
//
// API: What the signature beside the capsule says.
type CapsuleSignature struct {
	// With unknown_key nothing could be checked. A signature that does not fit is the error signature_invalid.
	State   CapsuleSignatureState `json:"state"`
	KeyID   string                `json:"key_id,omitempty"`
	Comment string                `json:"comment,omitempty"` // That is signed, too; to be believed only of a valid signature.
}
