package daemon

import (
	"cmp"
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
	Absent   Kind = iota // no process accepts connections
	Silent               // a process accepts connections but does not answer, perhaps a starting hub
	Dropped              // a process accepts connections and closes them
	Foreign              // another server answers
	Impostor             // a hub of this user has served there, and what answers is not this hub
	Others               // a hub of another user of the machine, which refuses this one
	Hub                  // a hub
)

// Probed is the result of a probe.
type Probed struct {
	Kind Kind
	Info hub.Info // of a hub
	// Proved says that the hub is one of this user. Any other program can say of itself what
	// a hub says.
	Proved bool
	// Owner is the other user of the machine whose hub it says to be; empty: it does not say so.
	Owner string
	Err   error // unless it is a hub
}

// Probe looks at an address once, on a new connection: a kept-alive one could
// belong to a hub that has gone.
func Probe(ctx context.Context, baseURL string) Probed {
	found := probe(ctx, baseURL)
	if found.Kind == Hub && !found.Proved {
		// A hub that starts takes connections before it is noted, and answers afterwards.
		return probe(ctx, baseURL)
	}
	return found
}

func probe(ctx context.Context, baseURL string) Probed {
	c := client.New(client.Config{BaseURL: baseURL, Timeout: ProbeTimeout})
	defer c.Close()
	info, err := c.Info(ctx)
	var h *hub.Error
	switch {
	case err == nil && info.StoreGone:
		return Probed{Kind: Silent, Info: info, Err: storeGone(&info)}
	case err == nil:
		found := Probed{Kind: Hub, Info: info, Proved: c.Proved()}
		if !found.Proved {
			found.Owner = ownerName(info.HubUser)
		}
		return found
	case !errors.As(err, &h):
		return Probed{Kind: Silent, Err: err}
	case h.Code == hub.CodeUnreachable:
		return Probed{Kind: Absent, Err: err}
	case h.Code == hub.CodeImpostor:
		return Probed{Kind: Impostor, Err: err}
	case h.Code == hub.CodeOtherUser:
		name, _ := h.Detail["hub_user"].(string)
		return Probed{Kind: Others, Owner: cmp.Or(ownerName(name), someUser), Err: err}
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

// storeGone is the error for a hub that has lost its store and ends.
func storeGone(info *hub.Info) error {
	return hub.NewError(hub.CodeStoreGone, "the store's folder "+info.StoragePath+" was moved, exchanged or deleted while the hub ran, and the hub ends").
		WithFix("wait some seconds; then put the folder back or restore a backup, and start the hub again with `hubcli ensure`")
}
