package hub

import "net/http"

// The codes of files that are to be capsules.
var (
	// CodeCapsuleInvalid: a file is no capsule, or not as the format says; detail.entry and
	// detail.line say where.
	CodeCapsuleInvalid = define(CodeInfo{Code: "capsule_invalid", Status: http.StatusUnprocessableEntity, Operator: true})
	// CodeCapsuleTooNew: a later version has written the capsule.
	CodeCapsuleTooNew = define(CodeInfo{Code: "capsule_too_new", Status: http.StatusUnprocessableEntity, Operator: true})
	// CodeCapsuleTooLarge: a capsule is beyond a limit of the format, or would be.
	CodeCapsuleTooLarge = define(CodeInfo{Code: "capsule_too_large", Status: http.StatusUnprocessableEntity, Operator: true})
	// CodeCapsuleEncrypted: no identity was named that opens an encrypted capsule.
	CodeCapsuleEncrypted = define(CodeInfo{Code: "capsule_encrypted", Status: http.StatusUnprocessableEntity, Operator: true})
	// CodeSignatureInvalid: the signature beside a capsule does not fit it, or is none, or the
	// one that was asked for is missing.
	CodeSignatureInvalid = define(CodeInfo{Code: "signature_invalid", Status: http.StatusUnprocessableEntity, Operator: true})
)
