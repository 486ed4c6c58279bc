package daemon

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// ProbeTimeout bounds one probe.
const ProbeTimeout = 2 * time.Second

// Kind is the kind of server at an address.
type Kind int

// The kinds.
const (
	Absent  Kind = iota // no process accepts connections
	Silent              // a process accepts connections but does not answer, perhaps a starting hub
	Dropped             // a process accepts connections and closes them
	Foreign             // another server answers
	Hub                 // a hub
)

// Probed is the result of a probe.
type Probed struct {
	Kind Kind
	Info hub.Info // of a hub
	Err  error    // unless it is a hub
}

// Probe looks at an address once, on a new connection: a kept-alive one could
// belong to a hub that has gone.
func Probe(ctx context.Context, baseURL string) Probed {
	c := client.New(client.Config{BaseURL: baseURL, Timeout: ProbeTimeout})
	defer c.Close()
	info, err := c.Info(ctx)
	var h *hub.Error
	switch {
	case err == nil:
		return Probed{Kind: Hub, Info: info}
	case !errors.As(err, &h):
		return Probed{Kind: Silent, Err: err}
	case h.Code == hub.CodeUnreachable:
		return Probed{Kind: Absent, Err: err}
	case h.Code == hub.CodeBrokeOff:
		return Probed{Kind: Dropped, Err: err}
	case h.Code == hub.CodeNoAnswer:
		return Probed{Kind: Silent, Err: err}
	case h.Status == http.StatusServiceUnavailable:
		// The hub is starting or stopping.
		return Probed{Kind: Silent, Err: err}
	default:
		return Probed{Kind: Foreign, Err: err}
	}
}
