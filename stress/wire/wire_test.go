package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hubcli/internal/require"
)

func TestConnSpeaksToNetHTTP(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		io.Copy(w, r.Body)
	})
	mux.HandleFunc("GET /chunks", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "one ")
		w.(http.Flusher).Flush()
		io.WriteString(w, strings.Repeat("two ", 2000))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	addr := server.Listener.Addr().String()
	conn, err := Dial(t.Context(), addr)
	require.NoError(t, err)
	defer conn.Close()
	echo, err := Post(addr, "/echo", map[string]string{"n": Counter})
	require.NoError(t, err)
	for range 2 { // keep-alive: the second answer begins where the first ends
		echo.Set(42)
		status, body, err := conn.Do(echo.Bytes())
		if err != nil || status != http.StatusCreated || string(body) != `{"n":"0000000000000042"}` {
			t.Fatalf("echo: %d %q %v", status, body, err)
		}
		status, body, err = conn.Do(Get(addr, "/chunks").Bytes())
		if want := "one " + strings.Repeat("two ", 2000); err != nil || status != http.StatusOK || string(body) != want {
			t.Fatalf("chunks: %d, %d bytes of %d, %v", status, len(body), len(want), err)
		}
	}
}

func TestConnRefusesWhatIsNoAnswer(t *testing.T) {
	for name, answer := range map[string]string{
		"other protocol":   "SSH-2.0-x\r\n\r\n",
		"no status":        "HTTP/1.1 abc\r\n\r\n",
		"no length":        "HTTP/1.1 200 OK\r\n\r\n",
		"negative length":  "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"huge length":      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
		"bad header":       "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
		"bad chunk":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"negative chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
		"cut off":          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
		"nothing":          "",
		"cut off in chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, answer)
				conn.Close()
			}))
			defer server.Close()
			addr := server.Listener.Addr().String()
			conn, err := Dial(t.Context(), addr)
			require.NoError(t, err)
			defer conn.Close()
			_, _, err = conn.Do(Get(addr, "/").Bytes())
			if !errors.Is(err, ErrAnswer) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestInt(t *testing.T) {
	body := []byte(`{"ok":true,"result":{"id":17,"fence":-3,"name":"x"}}`)
	for name, want := range map[string]int64{"id": 17, "fence": -3} {
		if got, ok := Int(body, name); !ok || got != want {
			t.Errorf("%s = %d, %v, want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"name", "missing"} {
		if got, ok := Int(body, name); ok {
			t.Errorf("%s = %d, want none", name, got)
		}
	}
}
