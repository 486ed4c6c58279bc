package main

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testport"
)

// TestClientThatHoldsConnectionsKeepsNobodyOut: a hub that may open few files serves all others
// while one client holds more connections than that, idle or without a byte, and its store has
// the files that it needs.
func TestClientThatHoldsConnectionsKeepsNobodyOut(t *testing.T) {
	n, err := testport.Take()
	require.NoError(t, err)
	port := strconv.Itoa(n)
	var log bytes.Buffer
	cmd := exec.Command("sh", "-c", `ulimit -n 200 && exec hubcli --port "$0" --storage "$1"`, port, filepath.Join(t.TempDir(), "store"))
	cmd.Stderr = warnings{&log}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the hub ended: %v", err)
		}
		if strings.Contains(log.String(), "too many open files") {
			t.Errorf("the store lacked files:\n%s", log.String())
		}
	})
	for end := time.Now().Add(30 * time.Second); !answers(port); {
		if time.Now().After(end) {
			t.Fatalf("no hub:\n%s", log.String())
		}
	}
	address := "127.0.0.1:" + port
	for i := range 300 {
		conn, err := net.DialTimeout("tcp", address, 30*time.Second)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		if i%2 == 0 {
			_, _ = fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", address) // a connection that gave way shows below
		}
	}
	c := client.New(client.Config{BaseURL: "http://" + address})
	defer c.Close()
	for i := range 50 {
		_, err := c.Post(t.Context(), hub.PostInput{FromAgent: "dev", Body: fmt.Sprint(i, strings.Repeat(" x", 20_000))})
		require.NoError(t, err)
	}
	if data, err := exec.Command("hubcli", "poll", "--agent", "reader", "--since-id", "49", "--base-url", "http://"+address).CombinedOutput(); err != nil || !bytes.Contains(data, []byte("49 x")) {
		t.Errorf("another client: %v\n%.300s", err, data)
	}
}
