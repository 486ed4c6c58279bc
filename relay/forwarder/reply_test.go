package forwarder

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/relay"
)

// TestLargeAnswersShareTheirMemory: a large answer, of known size or not, is
// read only when there is memory for it; small ones need not wait.
func TestLargeAnswersShareTheirMemory(t *testing.T) {
	for what, announced := range map[string]bool{"announced": true, "unannounced": false} {
		t.Run(what, func(t *testing.T) {
			const size, calls = 4 << 20, 6
			text := `{"ok":true,"result":"` + strings.Repeat("x", size) + `"}`
			var sent, answered atomic.Int64
			b := newBench(t, standIn(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get(api.HeaderRelay) != "big" {
					success(w)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				if announced {
					w.Header().Set("Content-Length", strconv.Itoa(len(text)))
				}
				sent.Add(1)
				_, _ = io.WriteString(w, text)
			}))
			held := int64(1) // an answer of unknown size needs all the memory
			if announced {
				held = 2
			}
			release := make(chan struct{})
			finish := sync.OnceFunc(func() { close(release) })
			f := b.made(func(c *Config) {
				c.Step = func(s Step) {
					if s == StepAnswered && answered.Add(1) <= held {
						<-release
					}
				}
			})
			if announced {
				f.answers = newBudget(5 * size / 2)
			}
			whole := f.answers.left
			stop := b.run(f)
			defer finish()
			var asked []relay.RequestID
			for range calls {
				asked = append(asked, b.ask("big", "GET", "/v1/agents", ""))
			}
			b.until("all are sent and some are read", func() bool { return sent.Load() == calls && answered.Load() == held })
			b.works("dev-b")
			if n := answered.Load(); n != held+1 {
				t.Errorf("%d large answers are held, want %d", n-1, held)
			}
			finish()
			for _, id := range asked {
				if r, e := b.answer("big", id); r.Status != 200 || len(e.Result) != size+2 {
					t.Errorf("%d, %d bytes", r.Status, len(e.Result))
				}
			}
			stop()
			if f.answers.left != whole {
				t.Errorf("%d bytes were not given back", whole-f.answers.left)
			}
		})
	}
}

// TestEncodeKeepsTheBody: reading a response file returns what was written,
// with any text in it.
func TestEncodeKeepsTheBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{``, `"body":null`, `null`, `<&>`, "\u2028", `\"body\":null,`})
		body, err := json.Marshal(map[string]string{"body": text.Draw(t, "body")})
		require.NoError(t, err)
		want := relay.Response{
			RequestID: relay.RequestID(text.Draw(t, "id")), Status: 200, OK: true, CompletedAt: hub.TimeOf(time.Now()),
			Body:  rapid.SampledFrom([]json.RawMessage{body, json.RawMessage("null"), json.RawMessage(`{"body":null}`)}).Draw(t, "whole body"),
			Error: text.Draw(t, "error"), Headers: map[string]string{"Retry-After": text.Draw(t, "header")},
		}
		data, err := want.Encode()
		require.NoError(t, err)
		var got relay.Response
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if string(got.Body) != string(want.Body) || got.RequestID != want.RequestID || got.Error != want.Error ||
			got.Headers["Retry-After"] != want.Headers["Retry-After"] || got.CompletedAt != want.CompletedAt {
			t.Errorf("%s is read as %+v", data, got)
		}
	})
}
