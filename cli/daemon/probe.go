package daemon

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// ProbeTimeout bounds one look at an address.
const ProbeTimeout = 2 * time.Second

// Kind says what answers at an address.
type Kind int

// What can answer.
const (
	Absent  Kind = iota // nothing takes connections
	Silent              // something does and says nothing, perhaps a hub that is starting
	Dropped             // something takes connections and ends them
	Foreign             // something else answers
	Hub                 // a hub
)

// Probed is what answers at an address.
type Probed struct {
	Kind Kind
	Info hub.Info // of a hub
	Err  error    // unless it is a hub
}

// Probe looks at an address once, on a connection of its own: a kept-alive one
// would show a hub that is gone.
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
		// A hub that is starting or stopping.
		return Probed{Kind: Silent, Err: err}
	default:
		return Probed{Kind: Foreign, Err: err}
	}
}
