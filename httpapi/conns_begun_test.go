package httpapi

import (
	"io"
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
		open.ended()
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
		open.ended()
	})
}

// TestRequestsInTheBufferDoNotGiveWay: a client may send the next request before it has got
// its answer. The server has read it then, and its connection is not idle.
func TestRequestsInTheBufferDoNotGiveWay(t *testing.T) {
	var open conns
	conn, _ := working(&open)
	open.changed(conn, http.StateIdle)
	if open.makeRoom() {
		t.Fatal("a connection whose next request is there was taken")
	}
	open.changed(conn, http.StateClosed)
	open.ended()
}

// TestFlowingBodiesDoNotGiveWay: a long body has its time for each part. One that comes byte
// by byte gives way.
func TestFlowingBodiesDoNotGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open conns
		conn, client := working(&open)
		go func() { // as a handler reads a body
			for b := make([]byte, 4096); ; {
				if _, err := conn.Read(b); err != nil {
					return
				}
			}
		}()
		for range 20 {
			time.Sleep(bodyFor - time.Millisecond)
			if open.makeRoom() {
				t.Fatal("a body that flows was cut off")
			}
			_, err := client.Write(make([]byte, bodyPart))
			require.NoError(t, err)
		}
		took := time.Now()
		for cut := false; !cut; cut = open.makeRoom() {
			time.Sleep(bodyFor / 10)
			_, err := client.Write([]byte("x"))
			require.NoError(t, err)
			if time.Since(took) > 2*bodyFor {
				t.Fatal("a body that comes byte by byte holds its place for ever")
			}
		}
		synctest.Wait()
		open.changed(conn, http.StateClosed)
		open.ended()
	})
}

// TestUnreadAnswersGiveWay: a client that takes nothing of its answers gives way, however short
// they are, and not before it had some time. One that reads slowly keeps its place.
func TestUnreadAnswersGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open conns
		conn, client := working(&open)
		failed := make(chan error, 1)
		go func() {
			_, err := conn.Write(make([]byte, 10*part))
			if err == nil {
				_, err = conn.Write(make([]byte, 100))
			}
			failed <- err
		}()
		for range 10 {
			time.Sleep(writeFor - time.Millisecond)
			if open.makeRoom() {
				t.Fatal("an answer that is read slowly was cut off")
			}
			_, err := io.ReadFull(client, make([]byte, part))
			require.NoError(t, err)
		}
		time.Sleep(writeFor - time.Millisecond)
		if open.makeRoom() {
			t.Fatal("the last answer was cut off at once")
		}
		time.Sleep(time.Millisecond)
		if !open.makeRoom() || <-failed == nil {
			t.Fatal("an answer that nobody takes holds its place")
		}
		open.changed(conn, http.StateClosed)
		open.ended()
	})
}

// begun returns a connection that was idle for a minute and has got the first bytes of a
// request now.
func begun(t *testing.T, open *conns) *boundedConn {
	conn, client := working(open)
	open.changed(conn, http.StateIdle)
	go func() {
		time.Sleep(time.Minute)
		_, _ = client.Write([]byte("GET"))
	}()
	_, err := conn.Read(make([]byte, 4096))
	require.NoError(t, err)
	return conn
}

// working returns a connection on which a request is being answered, and its client's end.
func working(open *conns) (conn *boundedConn, client net.Conn) {
	client, server := net.Pipe()
	conn = &boundedConn{Conn: server, conns: open, release: func() {}}
	open.changed(conn, http.StateNew)
	open.changed(conn, http.StateActive)
	return conn, client
}
