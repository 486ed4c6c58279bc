package hub

import "net/http"

// exitUsage is the exit code of a command that was not called as it should.
const exitUsage = 2

// The codes of connections to hosted providers.
var (
	// CodeProviderNotFound: there is no preset of this name.
	CodeProviderNotFound = define(CodeInfo{
		Code: "provider_not_found", Status: http.StatusNotFound, Operator: true,
		HTTP: "GET /v1/providers lists the presets",
		CLI:  "hubcli providers lists the presets",
	})
	CodeConnectionNotFound = define(CodeInfo{
		Code: "connection_not_found", Status: http.StatusNotFound, Operator: true,
		HTTP: "GET /v1/connections lists the connections",
		CLI:  "hubcli connection list shows the connections",
	})
	// CodeAmbiguous: a reference fits several rows; detail.candidates names them.
	CodeAmbiguous  = define(CodeInfo{Code: "ambiguous", Status: http.StatusConflict, Operator: true})
	CodeLabelTaken = define(CodeInfo{Code: "label_taken", Status: http.StatusConflict, Operator: true})
	// CodeCredentialUnresolved: no source has the key of a provider; detail.variables names
	// the variables in which the hub has looked.
	CodeCredentialUnresolved = define(CodeInfo{Code: "credential_unresolved", Status: http.StatusConflict, Exit: exitUsage, Operator: true})
	// CodeCredentialStore: the credential store of the system is missing, locked or refuses;
	// detail.kind says which.
	CodeCredentialStore = define(CodeInfo{Code: "credential_store_unavailable", Status: http.StatusConflict, Operator: true})
	// CodeProviderFailed: a provider could not be asked; detail.fault says why.
	CodeProviderFailed = define(CodeInfo{Code: "provider_failed", Status: http.StatusBadGateway, Operator: true})
)
