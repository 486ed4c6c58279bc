package mcp

import (
	"cmp"
	"net/http"

	"hubcli/hub"
)

// wayOut returns the fix of an error in words that a model can follow. If the
// error has none, its status decides: a server error may pass, and a refusal
// stays one.
func wayOut(e *hub.Error) string {
	general := "change the arguments: the schema of the tool says what it takes"
	if e.Status >= http.StatusInternalServerError || e.Status == 0 {
		general = "try again in a moment with the same idempotency_key; then go on without the hub and tell your user"
	}
	return cmp.Or(e.FixFor(hub.ForModel), general)
}
