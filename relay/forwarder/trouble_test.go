package forwarder

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestTroubleEnds: the log tells once that something fails for a folder, and
// once that it works again or that the folder is gone.
func TestTroubleEnds(t *testing.T) {
	for what, end := range map[string]func(*bench) error{
		"mended": func(b *bench) error { return os.Remove(b.path(relay.RejectedDir)) },
		"gone":   func(b *bench) error { return os.RemoveAll(b.path(relay.RequestsDir, "dev-a")) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testhub.Start(t).URL)
			b.run(b.made(nil))
			require.NoError(t, os.WriteFile(b.path(relay.RejectedDir), nil, 0o600))
			b.put("dev-a", "no request", nil)
			b.until("it is told", func() bool { return strings.Contains(b.log.String(), troubleReject) })
			require.NoError(t, end(b))
			b.until("its end is told", func() bool { return strings.Contains(b.log.String(), "over: "+troubleReject) })
			if n := strings.Count(b.log.String(), troubleReject); n != 2 {
				t.Errorf("the log tells %d times of it:\n%s", n, b.log)
			}
		})
	}
}

// TestUnreadableFolder: the log tells once that the names of a folder cannot be
// read, and once that they can again.
func TestUnreadableFolder(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	b.put("dev-a", keepName, nil)
	f := b.made(nil)
	defer f.close()
	f.look()
	d := f.folder("dev-a")
	read := func() {
		d.unread = true
		f.nextOf(d)
	}
	read()
	path := b.path(relay.RequestsDir, "dev-a")
	require.NoError(t, errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)))
	d.stop()
	read()
	read()
	if n := strings.Count(b.log.String(), troubleFolder); n != 1 {
		t.Errorf("the log tells %d times of it:\n%s", n, b.log)
	}
	require.NoError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
	read()
	if n := strings.Count(b.log.String(), troubleFolder); n != 2 || !strings.Contains(b.log.String(), "over: "+troubleFolder) {
		t.Errorf("the log tells %d times of it:\n%s", n, b.log)
	}
}
