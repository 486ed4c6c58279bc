package relay

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestRequestIntoFolderThatWasCleared: a forwarder clears away the folders of
// agents that are idle, perhaps just when one wakes.
func TestRequestIntoFolderThatWasCleared(t *testing.T) {
	dir := t.TempDir()
	transport, err := NewTransport(TransportConfig{Dir: dir, Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := transport.open("r1")
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if err := errors.Join(os.Remove(filepath.Join(dir, RequestsDir, "a")), os.Remove(filepath.Join(dir, ResponsesDir, "a"))); err != nil {
		t.Fatal(err)
	}
	if _, err := b.put("a", &outgoing{method: http.MethodGet, path: "/v1/hub-info"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, RequestsDir, "a", "r1.json")); err != nil {
		t.Error(err)
	}
}
