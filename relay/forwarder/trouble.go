package forwarder

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
)

// troubles tells the log when something begins to fail and when it works again,
// once each, however often it fails in between.
type troubles struct {
	log *slog.Logger

	mu  sync.Mutex
	now map[string]string // what fails where → why
}

// maxTroubles bounds what is remembered; folders are named by agents.
const maxTroubles = 10_000

// begin notes that what fails; args are for the log and tell where.
func (t *troubles) begin(what string, err error, args ...any) {
	key, why := what+fmt.Sprint(args...), reason(err)
	t.mu.Lock()
	known := t.now[key] == why
	if t.now == nil || len(t.now) > maxTroubles {
		t.now = map[string]string{}
	}
	t.now[key] = why
	t.mu.Unlock()
	if !known {
		t.log.Warn("relay: "+what, append(args, "error", why)...)
	}
}

// end notes that what works.
func (t *troubles) end(what string, args ...any) {
	key := what + fmt.Sprint(args...)
	t.mu.Lock()
	_, known := t.now[key]
	delete(t.now, key)
	t.mu.Unlock()
	if known {
		t.log.Info("relay: over: "+what, args...)
	}
}

// reason leaves out the names of files, which differ in every attempt.
func reason(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}
