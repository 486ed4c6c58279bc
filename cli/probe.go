package cli

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// probeTimeout bounds one look at an address.
const probeTimeout = 2 * time.Second

type probeKind int

const (
	probeAbsent  probeKind = iota // nothing takes connections
	probeSilent                   // something does and says nothing, perhaps a hub that is starting
	probeDropped                  // something takes connections and ends them
	probeForeign                  // something else answers
	probeHub
)

// probed is what answers at an address.
type probed struct {
	kind probeKind
	info hub.Info // of a hub
	err  error    // unless it is a hub
}

// probe looks at an address once, on a connection of its own: a kept-alive one
// would show a hub that is gone.
func probe(ctx context.Context, baseURL string) probed {
	c := client.New(client.Config{BaseURL: baseURL, Timeout: probeTimeout})
	defer c.Close()
	info, err := c.Info(ctx)
	var h *hub.Error
	switch {
	case err == nil:
		return probed{kind: probeHub, info: info}
	case !errors.As(err, &h):
		return probed{kind: probeSilent, err: err}
	case h.Code == hub.CodeUnreachable:
		return probed{kind: probeAbsent, err: err}
	case h.Code == hub.CodeBrokeOff:
		return probed{kind: probeDropped, err: err}
	case h.Code == hub.CodeNoAnswer:
		return probed{kind: probeSilent, err: err}
	case h.Status == http.StatusServiceUnavailable:
		// A hub that is starting or stopping.
		return probed{kind: probeSilent, err: err}
	default:
		return probed{kind: probeForeign, err: err}
	}
}
