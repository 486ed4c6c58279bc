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
		conn := begun(t, &open)
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

// TestRequestsNeverGiveWay: a connection on which a request has come whole keeps its place,
// however long the answer takes.
func TestRequestsNeverGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open conns
		conn := begun(t, &open)
		open.changed(conn, http.StateActive)
		for range 3 {
			if open.makeRoom() {
				t.Fatal("the request was cut off")
			}
			time.Sleep(time.Hour)
		}
		open.changed(conn, http.StateClosed)
		open.wait()
	})
}

// begun returns a connection that was idle for a minute and has got the first bytes of a
// request now.
func begun(t *testing.T, open *conns) *boundedConn {
	client, server := net.Pipe()
	conn := &boundedConn{Conn: server, conns: open, release: func() {}}
	for _, state := range []http.ConnState{http.StateNew, http.StateActive, http.StateIdle} {
		open.changed(conn, state)
	}
	time.Sleep(time.Minute)
	go func() { _, _ = client.Write([]byte("GET")) }()
	_, err := conn.Read(make([]byte, 3))
	require.NoError(t, err)
	return conn
}
