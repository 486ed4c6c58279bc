package supervisor_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence"
	"hubcli/supervisor"
)

// stuckReader takes nothing until it is released.
type stuckReader struct {
	bytes.Buffer
	entered, release chan struct{}
}

func (r *stuckReader) Write(b []byte) (int, error) {
	select {
	case r.entered <- struct{}{}:
	default:
	}
	<-r.release
	return r.Buffer.Write(b)
}

// TestBackupEndsWithTheHub: a hub that stops ends the backup under way, the stream
// says so, and there is only one at a time.
func TestBackupEndsWithTheHub(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	tree, err := supervisor.Start(supervisor.Config{Storage: t.TempDir(), Listener: l, WithoutSearch: true})
	require.NoError(t, err)
	for range 40 { // so that the backup has many pieces
		_, err = tree.Hub.Post(context.Background(), hub.PostInput{
			FromAgent: "a", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: strings.Repeat("x", 100_000),
		})
		require.NoError(t, err)
	}
	r := &stuckReader{entered: make(chan struct{}, 1), release: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- tree.Backup(context.Background(), r) }()
	<-r.entered
	if err := tree.Backup(context.Background(), &bytes.Buffer{}); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("a second backup: %v, want limit_reached", err)
	}
	_, err = tree.Hub.Post(context.Background(), hub.PostInput{FromAgent: "a", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "x"})
	require.NoError(t, err) // the hub serves meanwhile
	stopped := make(chan error, 1)
	go func() { stopped <- tree.Stop() }()
	<-tree.Hub.Ending()
	close(r.release)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the backup ended with %v, want canceled", err)
	}
	require.NoError(t, <-stopped)
	if _, err := persistence.CheckBackup(&r.Buffer); err == nil {
		t.Error("a backup that was not finished passes for one")
	}
}
