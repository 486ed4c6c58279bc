package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// StopTimeout is how long a stopping hub may take: it answers parked polls at
// once, but may have a large checkpoint to write.
const StopTimeout = 60 * time.Second

// ErrStillRuns says that a hub was told to stop and has not within StopTimeout.
var ErrStillRuns = errors.New("the hub still runs")

// Stop asks the hub at the address, which info describes, to stop and waits until its
// port and its store are free.
func (m *Machine) Stop(ctx context.Context, baseURL string, info hub.Info) error {
	c := client.New(client.Config{BaseURL: baseURL})
	defer c.Close()
	now := 0.0
	m.markStopped(baseURL)
	_, err := c.Shutdown(ctx, hub.ShutdownInput{DelaySec: &now})
	if err != nil && !stopping(err) {
		m.unmarkStopped(baseURL)
		return err
	}
	return m.awaitGone(ctx, baseURL, info)
}

// AwaitEnd waits until a hub that ends by itself is gone, and has it stay so: see Stopped.
func (m *Machine) AwaitEnd(ctx context.Context, baseURL string) error {
	m.markStopped(baseURL)
	return m.awaitGone(ctx, baseURL, hub.Info{})
}

// stopping reports whether the error of a Shutdown means that the hub is on its way
// out, or that another caller has stopped it.
func stopping(err error) bool {
	var h *hub.Error
	return errors.As(err, &h) &&
		(h.Code == hub.CodeUnreachable || h.Code == hub.CodeBrokeOff || h.Code == hub.CodeStopping)
}

// awaitGone waits until the hub that info describes is gone.
func (m *Machine) awaitGone(ctx context.Context, baseURL string, info hub.Info) error {
	began := m.Now()
	for {
		found := Probe(ctx, baseURL)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		another := found.Kind == Impostor || found.Kind == Others || found.Kind == Hub && found.Info.InstanceID != info.InstanceID
		if (found.Kind == Absent || another) && !m.held(info.StoragePath) {
			return nil
		}
		if m.Now().Sub(began) > StopTimeout {
			return ErrStillRuns
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(ProbeEvery):
		}
	}
}

// held reports whether a hub serves the store, as far as known.
func (m *Machine) held(dir string) bool {
	if m.Inspect == nil {
		return false
	}
	info, err := m.Inspect(dir)
	return err == nil && info.Held
}

// A hub that a user has stopped stays stopped until a user starts one. Bridges
// that run meanwhile restart a crashed hub, but not a stopped one. A mark in
// the data root tells the two apart:
//
//	<data root>/run/stopped-<hash of the address>   empty

func (m *Machine) stoppedMark(baseURL string) (string, error) {
	root, err := m.Root()
	sum := sha256.Sum256([]byte(baseURL))
	return filepath.Join(root, "run", "stopped-"+hex.EncodeToString(sum[:8])), err
}

// markStopped notes that a user is about to stop the hub at the address. If the
// mark cannot be written, bridges may start another hub, which does little
// harm.
func (m *Machine) markStopped(baseURL string) {
	if path, err := m.stoppedMark(baseURL); err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, nil, 0o600)
	}
}

// unmarkStopped notes that a hub at the address is wanted.
func (m *Machine) unmarkStopped(baseURL string) {
	if path, err := m.stoppedMark(baseURL); err == nil {
		_ = os.Remove(path)
	}
}

// Stopped reports whether somebody has stopped the hub at the address.
func (m *Machine) Stopped(baseURL string) bool {
	path, err := m.stoppedMark(baseURL)
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}
