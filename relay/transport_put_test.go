package relay

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestRequestIntoFolderThatWasCleared: a forwarder clears away the folders of
// agents that are idle, perhaps just when one wakes.
func TestRequestIntoFolderThatWasCleared(t *testing.T) {
	dir := t.TempDir()
	transport, err := NewTransport(TransportConfig{Dir: dir, Agent: "a"})
	require.NoError(t, err)
	b, err := transport.open("r1")
	require.NoError(t, err)
	defer b.close()
	require.NoError(t, errors.Join(os.Remove(filepath.Join(dir, RequestsDir, "a")), os.Remove(filepath.Join(dir, ResponsesDir, "a"))))
	if _, err := b.put("a", &outgoing{method: http.MethodGet, path: "/v1/hub-info"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, RequestsDir, "a", "r1.json")); err != nil {
		t.Error(err)
	}
}

// TestWithdrawnRepetitionIsInDoubt: that a repetition was withdrawn says nothing
// of the attempt before, which a forwarder had taken.
func TestWithdrawnRepetitionIsInDoubt(t *testing.T) {
	dir := t.TempDir()
	c, transport, err := NewClient(TransportConfig{Dir: dir, Agent: "a", Timeout: 200 * time.Millisecond, NoNotify: true})
	require.NoError(t, err)
	defer transport.CloseIdleConnections()
	ctx := hub.WithCaller(context.Background(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "k-1"}})
	post := func() *hub.Error {
		_, err := c.Post(ctx, hub.PostInput{FromAgent: "a", Body: "x"})
		var e *hub.Error
		if !errors.As(err, &e) || e.Status != StatusNoAnswer {
			t.Fatalf("the post that nobody answers: %v", err)
		}
		return e
	}
	if e := post(); e.Detail["outcome"] != nil || !strings.Contains(e.Message, "has no effect") {
		t.Errorf("a post that nobody took: %v %v", e, e.Detail)
	}
	request := filepath.Join(dir, RequestsDir, "a", "k-1")
	taken := make(chan error, 1)
	go func() {
		for {
			err := os.Rename(request+DoneSuffix, request+WorkSuffix)
			if !errors.Is(err, fs.ErrNotExist) {
				taken <- err
				return
			}
			runtime.Gosched()
		}
	}()
	for begun := time.Now(); len(taken) == 0; {
		if e := post(); e.Detail["outcome"] != "unknown" && len(taken) > 0 {
			t.Errorf("a post that was taken: %v %v", e, e.Detail)
		} else if time.Since(begun) > patience {
			t.Fatal("no post was taken")
		}
	}
	require.NoError(t, errors.Join(<-taken, os.Remove(request+WorkSuffix)))
	if e := post(); e.Detail["outcome"] != "unknown" || strings.Contains(e.Message, "no effect") {
		t.Errorf("a repetition that nobody took: %v %v", e, e.Detail)
	}
}

// TestAnswerOfAnEarlierAttemptIsKept: nobody answers the repetition, and what was
// answered before is there still.
func TestAnswerOfAnEarlierAttemptIsKept(t *testing.T) {
	dir := t.TempDir()
	c, transport, err := NewClient(TransportConfig{Dir: dir, Agent: "a", Timeout: 100 * time.Millisecond, NoNotify: true})
	require.NoError(t, err)
	defer transport.CloseIdleConnections()
	folder := filepath.Join(dir, ResponsesDir, "a")
	require.NoError(t, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "k-1.json"), []byte("answer"), 0o600)))
	ctx := hub.WithCaller(context.Background(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "k-1"}})
	_, err = c.Post(ctx, hub.PostInput{FromAgent: "a", Body: "x"})
	var e *hub.Error
	if !errors.As(err, &e) || e.Detail["outcome"] != "unknown" {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(filepath.Join(folder, "k-1.json")); string(b) != "answer" {
		t.Errorf("the answer is %q, %v", b, err)
	}
}
