package relay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/relay"
)

// TestTransportOnlyTakesAnswers: a process that can write into the folder of
// answers cannot end a call with a malformed answer.
func TestTransportOnlyTakesAnswers(t *testing.T) {
	good, err := json.Marshal(relay.Response{RequestID: "k", OK: true, Status: 200, Body: json.RawMessage(`{"ok":true,"result":{}}`)})
	require.NoError(t, err)
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, good, 0o600))
	swap := func(from, to string) []byte { return bytes.Replace(good, []byte(from), []byte(to), 1) }
	for name, put := range map[string]func(at string) error{
		"empty":           func(at string) error { return os.WriteFile(at, nil, 0o600) },
		"half":            func(at string) error { return os.WriteFile(at, good[:len(good)/2], 0o600) },
		"another's":       func(at string) error { return os.WriteFile(at, swap(`"k"`, `"other"`), 0o600) },
		"no status":       func(at string) error { return os.WriteFile(at, swap(`"status":200`, `"status":0`), 0o600) },
		"a large status":  func(at string) error { return os.WriteFile(at, swap(`"status":200`, `"status":1000`), 0o600) },
		"an informal one": func(at string) error { return os.WriteFile(at, swap(`"status":200`, `"status":100`), 0o600) },
		"no object":       func(at string) error { return os.WriteFile(at, swap(`{"ok":true,"result":{}}`, `[]`), 0o600) },
		"nothing at all":  func(at string) error { return os.WriteFile(at, swap(`{"ok":true,"result":{}}`, `null`), 0o600) },
		"symbolic link":   func(at string) error { return os.Symlink(outside, at) },
		"folder":          func(at string) error { return os.Mkdir(at, 0o700) },
		"oversized": func(at string) error {
			return errors.Join(os.WriteFile(at, good, 0o600), os.Truncate(at, 66<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for its timeout
			dir := newSpool(t)
			forwardBy(t, dir, func(in relay.Request) *relay.Response {
				folder := filepath.Join(dir, relay.ResponsesDir, "a")
				temp := filepath.Join(folder, ".tmp-k") // what is half done is not seen
				if err := errors.Join(put(temp), os.Rename(temp, filepath.Join(folder, "k.json"))); err != nil {
					t.Error(err)
				}
				return nil
			})
			_, err := through(t, dir, "a", timeout(2*time.Second)).CloseSession(keyed(t, "k"), "s", "")
			e := refusedWith(t, err, hub.CodeRelayTimeout, 598)
			if !strings.Contains(e.Message, "what lies in the answer's place is none") {
				t.Errorf("the sentence is %q", e.Message)
			}
		})
	}
}

// TestTransportFailureStatuses: what a forwarder says where no hub answered is
// the caller's error, with or without an envelope.
func TestTransportFailureStatuses(t *testing.T) {
	for _, in := range []relay.Response{
		{Status: 599, Error: "no hub answers", Body: json.RawMessage(`{"ok":false,"error":"no hub answers","code":"unreachable","status":599,"detail":{},"fix":"start it"}`)},
		{Status: 599, Error: "no hub answers"},
		{Status: 598, Error: "late", Body: json.RawMessage(`null`)},
		{Status: 597, Error: "full"},
		{Status: 403, Error: "not relayed", Body: json.RawMessage(`{"ok":false,"error":"not relayed","code":"not_relayed","status":403,"detail":{},"fix":"x"}`)},
	} {
		dir := newSpool(t)
		forwardBy(t, dir, func(r relay.Request) *relay.Response {
			out := in
			out.RequestID = r.RequestID
			return &out
		})
		_, err := through(t, dir, "a", nil).Info(t.Context())
		var e *hub.Error
		want := map[int]hub.Code{599: hub.CodeUnreachable, 598: hub.CodeRelayTimeout, 597: hub.CodeSpoolFailed, 403: hub.CodeNotRelayed}[in.Status]
		if !errors.As(err, &e) || e.Status != in.Status || e.Code != want || e.Message != in.Error {
			t.Errorf("%d %s: the error is %#v", in.Status, in.Body, err)
		}
	}
}
