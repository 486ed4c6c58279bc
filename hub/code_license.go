package hub

import "net/http"

// The codes about the license of this machine. License servers refuse with codes of their own,
// which are in detail.server_code.
var (
	CodeLicenseUnconfigured = define(CodeInfo{
		Code: "license_unconfigured", Status: http.StatusConflict, Operator: true,
		HTTP: "write the license server, the product and its public key into the file that detail.config_path names",
		CLI:  "write the license server into license/config.json of the data root; hubcli data-root names that folder, hubcli license --help shows the file",
	})
	CodeLicenseNotActive = define(CodeInfo{
		Code: "license_not_active", Status: http.StatusConflict, Operator: true,
		HTTP: "activate one with POST /v1/license/activate; everything works without one",
		CLI:  "activate one with: hubcli license activate KEY; everything works without one",
	})
	// CodeLicenseActive: another key is active on this machine.
	CodeLicenseActive = define(CodeInfo{
		Code: "license_active", Status: http.StatusConflict, Operator: true,
		CLI: "free its place first: hubcli license deactivate",
	})
	CodeLicenseNotFound = define(CodeInfo{
		Code: "license_not_found", Status: http.StatusConflict, Operator: true,
		HTTP: "compare the key with the one that you got; it may be of another account or product",
	})
	CodeLicenseExpired = define(CodeInfo{
		Code: "license_expired", Status: http.StatusConflict, Operator: true,
		HTTP: "renew the license, and repeat the call",
	})
	CodeLicenseSuspended = define(CodeInfo{
		Code: "license_suspended", Status: http.StatusConflict, Operator: true,
		HTTP: "ask whoever gave you the license",
	})
	CodeLicenseRevoked = define(CodeInfo{
		Code: "license_revoked", Status: http.StatusConflict, Operator: true,
		HTTP: "ask whoever gave you the license",
	})
	CodeLicenseMachineLimit = define(CodeInfo{
		Code: "license_machine_limit", Status: http.StatusConflict, Operator: true,
		HTTP: "deactivate the license on another machine, and repeat the call",
		CLI:  "run on another machine: hubcli license deactivate; then repeat the command here",
	})
	// CodeLicenseRefused: the license server refused for a reason that has no code here.
	CodeLicenseRefused = define(CodeInfo{
		Code: "license_refused", Status: http.StatusConflict, Operator: true,
		HTTP: "ask whoever gave you the license, and name the code in detail.server_code",
		CLI:  "ask whoever gave you the license, and name the code that the message has",
	})
	CodeLicenseBusy = define(CodeInfo{Code: "license_busy", Status: http.StatusConflict, Operator: true})
	// CodeLicenseUnreadable: a file of the license, or the saved key, cannot be read or written.
	CodeLicenseUnreadable = define(CodeInfo{Code: "license_unreadable", Status: http.StatusConflict, Operator: true})
	// CodeLicenseUnreachable: no answer came from the license server, or its certificate is wrong.
	CodeLicenseUnreachable = define(CodeInfo{Code: "license_unreachable", Status: http.StatusBadGateway, Operator: true, Repeat: RepeatNever})
	// CodeLicenseServerFailed: something answered, but no license server that works.
	CodeLicenseServerFailed = define(CodeInfo{Code: "license_server_failed", Status: http.StatusBadGateway, Operator: true, Repeat: RepeatNever})
	// CodeLicenseNotGenuine: the license server did not sign what came.
	CodeLicenseNotGenuine = define(CodeInfo{Code: "license_not_genuine", Status: http.StatusBadGateway, Operator: true, Repeat: RepeatNever})
)
