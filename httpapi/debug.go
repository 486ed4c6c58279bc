package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"hubcli/hub"
)

func debugHandlers() handlers {
	return handlers{
		"debug": getDebug,
	}
}

// defaultProfileTime is how long a CPU profile samples if the call does not say.
const defaultProfileTime = 5 * time.Second

// getDebug answers what the hub does, or with a profile of its process. The calls
// are logged: a profile costs the hub some time.
func getDebug(c *call) (reply, error) {
	c.logged = true
	query := c.query()
	q := hub.DebugQuery{Stacks: query.Bool("stacks")}
	profile := hub.ProfileQuery{Kind: hub.ProfileKind(query.Text("profile"))}
	seconds := query.Text("seconds")
	if profile.Kind != "" && !slices.Contains(hub.ProfileKinds(), profile.Kind) {
		query.Keep(hub.Invalid("profile", "there is no such profile").WithFix("use heap, goroutine or cpu"))
	}
	if profile.Kind == hub.ProfileCPU {
		profile.For = defaultProfileTime
	}
	if seconds != "" {
		n, err := strconv.Atoi(seconds)
		most := int(hub.MaxProfileTime.Seconds())
		if err != nil || n < 1 || n > most || profile.Kind != hub.ProfileCPU {
			query.Keep(hub.Invalid("seconds", "seconds is how long a CPU profile takes").
				With("limit", most).WithFix("use profile=cpu with 1 to " + strconv.Itoa(most) + " seconds"))
		}
		profile.For = time.Duration(n) * time.Second
	}
	if profile.Kind == "" {
		return readRow(c, query, q, c.server.config.Status.Debug)
	}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	c.parksRead(&profile.For)
	data, err := c.server.config.Status.Profile(c.context(), profile)
	if err != nil {
		return reply{}, err
	}
	header := c.w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(data) // a client that is gone needs no answer
	return reply{done: true, status: http.StatusOK}, nil
}
