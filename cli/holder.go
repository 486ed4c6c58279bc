package cli

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/internal/peertext"
)

// HeldError says that somebody else has the store open.
type HeldError struct{ Holder StoreHolder }

func (e *HeldError) Error() string { return "the store is in use" }

// baseURLs are where the holder says that it serves: none if it does not say so, or
// names another machine. A hub on all addresses is reached over loopback, of both
// kinds mostly.
func (h StoreHolder) baseURLs() []string {
	host, digits, err := net.SplitHostPort(h.Address)
	port, perr := strconv.Atoi(digits)
	if err != nil || perr != nil {
		return nil
	}
	hosts := []string{host}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		hosts = []string{"127.0.0.1", "::1"}
	}
	var urls []string
	for _, host := range hosts {
		if url := (address{host: host, port: port}).baseURL(); client.OnThisMachine(url) {
			urls = append(urls, url)
		}
	}
	return urls
}

// servesAt asks the hub that the holder of the store says to be, and returns its
// address if it is that store's: the lock file alone proves nothing.
func (h StoreHolder) servesAt(ctx context.Context, dir string) (url string, ok bool) {
	for _, url := range h.baseURLs() {
		found := daemon.Probe(ctx, url)
		if found.Kind != daemon.Hub {
			continue
		}
		if instance, err := client.StoreInstance(dir); err == nil && instance == found.Info.InstanceID {
			return url, true
		}
	}
	return "", false
}

// heldFailure says who has the store, and how to have a hub all the same. second is
// the command that would start one with a store of its own.
func heldFailure(ctx context.Context, dir string, h StoreHolder, second string) *Failure {
	other := "start a second hub with a port and a store of its own: " + second + " --storage FOLDER"
	if url, ok := h.servesAt(ctx, dir); ok {
		return &Failure{
			Exit: ExitStore, Err: &HeldError{h},
			Sentence: fmt.Sprintf("the store %s is served by the hub at %s (process %d)", dir, url, h.PID),
			Fix:      "use that hub with --base-url " + url + ", or " + other,
		}
	}
	who := "another process, which does not say what it is"
	switch urls := h.baseURLs(); {
	case h.PID != 0 && len(urls) > 0:
		who = fmt.Sprintf("process %d, which does not answer at %s", h.PID, urls[0])
	case h.PID != 0:
		who = fmt.Sprintf("process %d, which serves no hub on it", h.PID)
	}
	return &Failure{
		Exit: ExitStore, Err: &HeldError{h},
		Sentence: fmt.Sprintf("the store %s is held by %s", dir, who),
		Fix:      "wait until that process has ended, or end it; or " + other,
	}
}

// secondHub is the command line that starts a hub at the address, but for its store.
func secondHub(command string, a address) string {
	flags := ""
	if a.host != defaultHost {
		flags = " --host " + a.host
	}
	if !a.loopback() {
		flags += " --allow-remote"
	}
	return command + flags + " --port " + strconv.Itoa(a.port)
}

// waitForStore reports whether the store is somebody else's who may let go of it: a
// hub that stops, or one that starts and will say soon where it serves. A hub that
// serves it elsewhere keeps it, which is an error at once.
func (s *starter) waitForStore(ctx context.Context) (wait bool, err error) {
	if s.env.InspectStore == nil {
		return false, nil
	}
	info, err := s.env.InspectStore(s.storage)
	if err != nil || !info.Held {
		return false, nil // what is wrong with it the daemon will say
	}
	s.holder = info.Holder
	_, serves := info.Holder.servesAt(ctx, s.storage)
	if serves && daemon.Probe(ctx, s.addr.baseURL()).Kind == daemon.Hub {
		return true, nil // it has come up meanwhile, which the next look will find
	}
	silent := info.Holder.PID == 0 && s.env.Now().Sub(s.began) > heldLong
	if serves || silent {
		return false, s.heldFailure(ctx)
	}
	s.sayWaiting()
	return true, nil
}

func (s *starter) heldFailure(ctx context.Context) *Failure {
	return heldFailure(ctx, s.storage, s.holder, secondHub("hubcli ensure", s.addr))
}

// sayWaiting tells once whom a hub waits for that cannot have its store yet.
func (s *starter) sayWaiting() {
	if s.saidHeld {
		return
	}
	s.saidHeld = true
	if s.holder.PID == 0 {
		s.env.note("waiting: another process has the store %s open", peertext.TerminalLine(s.storage))
		return
	}
	s.env.note("waiting: process %d has the store %s open and does not answer; it is stopping or starting", s.holder.PID, peertext.TerminalLine(s.storage))
}
