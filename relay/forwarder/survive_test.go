package forwarder

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// run runs f until the test ends or stop is called.
func (b *bench) run(f *Forwarder) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	b.Cleanup(stop)
	return stop
}

// made returns a forwarder with the bench's settings that does not run yet.
func (b *bench) made(change func(*Config)) *Forwarder {
	b.Helper()
	cfg := Config{
		Dir: b.dir, BaseURL: b.url, PollInterval: 20 * time.Millisecond, RequestTimeout: longPatience,
		Logger: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	f, err := New(cfg)
	require.NoError(b, err)
	return f
}

// TestMisfitsAmongTooManyFolders: there are more agent folders than the
// forwarder serves. It still rejects other entries and serves its folders, and
// the log tells of it once when it begins and once when it ends.
func TestMisfitsAmongTooManyFolders(t *testing.T) {
	for _, notify := range []bool{true, false} {
		t.Run(fmt.Sprintf("notify=%v", notify), func(t *testing.T) {
			b := newBench(t, testhub.Start(t).URL)
			f := b.made(func(c *Config) { c.Notify = notify })
			f.most.folders = 4
			b.run(f)
			b.works("dev-a")
			for n := range f.most.folders {
				require.NoError(t, os.Mkdir(b.path(relay.RequestsDir, fmt.Sprintf("more-%d", n)), 0o700))
			}
			b.until("the log tells of the crowd", func() bool { return strings.Contains(b.log.String(), troubleCrowd) })
			for _, name := range []string{"a misfit", "another misfit"} {
				require.NoError(t, os.WriteFile(b.path(relay.RequestsDir, name), nil, 0o600))
			}
			b.until("the misfits are moved away", func() bool { return len(b.names(relay.RejectedDir, "_")) == 4 })
			b.works("dev-a")
			require.NoError(t, os.Remove(b.path(relay.RequestsDir, "more-0")))
			b.until("the log tells that it is over", func() bool { return strings.Contains(b.log.String(), "over: "+troubleCrowd) })
			if n := strings.Count(b.log.String(), troubleCrowd); n != 2 {
				t.Errorf("the log tells %d times of the crowd:\n%s", n, b.log)
			}
			if strings.Contains(b.log.String(), "panicked") {
				t.Errorf("it panicked:\n%s", b.log)
			}
		})
	}
}

// TestMistakeEndsNoDaemon: a panic in the loop itself is logged, and the
// forwarder goes on.
func TestMistakeEndsNoDaemon(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	var begun atomic.Int64
	b.run(b.made(func(c *Config) {
		c.Ready = func() {
			if begun.Add(1) == 1 {
				panic("a mistake")
			}
		}
	}))
	b.works("dev-a")
	if n := strings.Count(b.log.String(), "level=ERROR"); n != 1 || !strings.Contains(b.log.String(), "a mistake") {
		t.Errorf("the log tells %d times of it:\n%s", n, b.log)
	}
}
