package forwarder

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"

	"hubcli/internal/bounded"
)

// troubles logs once when something begins to fail and once when it works
// again.
type troubles struct {
	log *slog.Logger

	mu  sync.Mutex
	now *bounded.Map[string, string] // what fails where → why
}

// maxTroubles bounds the memory, because agents choose the names of folders.
const maxTroubles = 10_000

// begin notes that what fails; args are for the log and tell where.
func (t *troubles) begin(what string, err error, args ...any) {
	key, why := what+fmt.Sprint(args...), reason(err)
	t.mu.Lock()
	before, _ := t.now.Get(key)
	t.now.Put(key, why)
	t.mu.Unlock()
	if before != why {
		t.log.Warn("relay: "+what, append(args, "error", why)...)
	}
}

// end notes that what works.
func (t *troubles) end(what string, args ...any) {
	key := what + fmt.Sprint(args...)
	t.mu.Lock()
	known := t.now.Delete(key)
	t.mu.Unlock()
	if known {
		t.log.Info("relay: over: "+what, args...)
	}
}

// reason returns the error without names of files, which differ in every
// attempt.
func reason(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}
