package hub

import "net/http"

// The codes of errors that no hub sends. If a write may have taken effect
// anyway, detail.outcome is "unknown" and the detail holds its idempotency_key.
// To learn the outcome, send the write again with that key (WithCaller).
var (
	// CodeUnreachable: nothing takes connections at the address.
	CodeUnreachable = define(CodeInfo{Code: "unreachable", Local: true, Exit: exitUnreachable})
	// CodeNoAnswer: the hub accepted the connection but did not answer in time.
	CodeNoAnswer = define(CodeInfo{Code: "no_answer", Local: true, Exit: exitUnreachable})
	// CodeBrokeOff: the connection ended before the answer was complete.
	CodeBrokeOff = define(CodeInfo{Code: "broke_off", Local: true, Exit: exitUnreachable})
	// CodeNotAHub: something else answers at the address.
	CodeNotAHub = define(CodeInfo{Code: "not_a_hub", Local: true, Exit: exitUnreachable})
	// CodeImpostor: this user's hub has served at the address, and what answers there now
	// did not prove that it is this hub. Nothing was sent to it.
	CodeImpostor = define(CodeInfo{
		Code: "impostor", Status: http.StatusBadGateway, Local: true, Exit: exitUnreachable, Repeat: RepeatNever,
		Model: "go on without the hub, and tell your user these words: nothing was sent to that program",
	})
	// CodeSpoolFailed: the spool folder cannot be used.
	CodeSpoolFailed = define(CodeInfo{Code: "spool_failed", Local: true, Exit: exitUnreachable})
	// CodeRelayTimeout: no forwarder answered in time.
	CodeRelayTimeout = define(CodeInfo{Code: "relay_timeout", Local: true, Exit: exitUnreachable})
	// CodeNotRelayed: the forwarder does not carry such a call.
	CodeNotRelayed = define(CodeInfo{Code: "not_relayed", Status: http.StatusForbidden, Local: true})
)
