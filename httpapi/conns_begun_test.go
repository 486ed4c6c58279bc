package httpapi

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/internal/require"
)

// TestBegunRequestsDoNotGiveWayAtOnce: a connection on which a request has begun is not taken
// for an idle one, however long it was idle before. It gives way when the rest does not come.
func TestBegunRequestsDoNotGiveWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open conns
		client, server := net.Pipe()
		conn := &boundedConn{Conn: server, conns: &open, release: func() {}}
		open.changed(conn, http.StateNew)
		open.changed(conn, http.StateActive)
		open.changed(conn, http.StateIdle)
		time.Sleep(time.Minute)
		go func() { _, _ = client.Write([]byte("GET")) }()
		_, err := conn.Read(make([]byte, 3))
		require.NoError(t, err)
		if open.makeRoom() {
			t.Fatal("the request was cut off at once")
		}
		time.Sleep(quietFor)
		if !open.makeRoom() {
			t.Fatal("the request holds its place for ever")
		}
		open.changed(conn, http.StateClosed)
		open.wait()
	})
}
