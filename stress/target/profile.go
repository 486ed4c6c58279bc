package target

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// profileEnv names the address on which a profiled hub offers its profiles.
const profileEnv = "HUB_PROFILE_ADDR"

// profileSource is added to a profiled hub's main package.
const profileSource = `package main

import (
	"net/http"
	_ "net/http/pprof"
	"os"
)

func init() {
	if addr := os.Getenv("` + profileEnv + `"); addr != "" {
		go http.ListenAndServe(addr, nil)
	}
}
`

// Profile records the process's processor profile for d, in the format that go
// tool pprof reads. The hub must be a profiled one.
func (p *Process) Profile(ctx context.Context, d time.Duration, w io.Writer) error {
	seconds := max(1, int(d/time.Second))
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.profile, seconds)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the profile answered %s", answer.Status)
	}
	_, err = io.Copy(w, answer.Body)
	return err
}
