package mcp

import (
	"cmp"
	"net/http"

	"hubcli/hub"
)

// wayOut says what to do about an error in words that a model can follow. Of an
// error that nobody says anything of, the status decides: what the hub cannot do now
// it may do later, and what it refuses is refused again.
func wayOut(e *hub.Error) string {
	general := "change the arguments: hub_describe_tool says what the tool takes"
	if e.Status >= http.StatusInternalServerError || e.Status == 0 {
		general = "try again in a moment with the same idempotency_key; then go on without the hub and tell your user"
	}
	return cmp.Or(e.FixFor(hub.ForModel), general)
}
