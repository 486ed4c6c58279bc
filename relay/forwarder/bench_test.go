package forwarder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// BenchmarkRoundTrip measures one post through the spool, from the rename of the
// request to the response's name, beside the hub's own sync of it.
func BenchmarkRoundTrip(b *testing.B) {
	for _, notify := range []bool{true, false} {
		b.Run(fmt.Sprintf("notify=%v", notify), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "spool")
			ready := make(chan struct{})
			f, err := New(Config{Dir: dir, Create: true, BaseURL: testhub.Start(b).URL, Notify: notify, Ready: func() { close(ready) }})
			require.NoError(b, err)
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				f.Run(ctx)
			}()
			defer func() {
				cancel()
				<-done
			}()
			<-ready
			requests, responses := filepath.Join(dir, relay.RequestsDir, "dev-a"), filepath.Join(dir, relay.ResponsesDir, "dev-a")
			require.NoError(b, os.Mkdir(requests, 0o700))
			for b.Loop() {
				id := string(relay.NewRequestID())
				temp := filepath.Join(requests, relay.TempPrefix+id)
				text := fmt.Sprintf(`{"request_id":%q,"agent_id":"dev-a","method":"POST","path":"/v1/messages","body":{"from_agent":"dev-a","body":"x"}}`, id)
				require.NoError(b, os.WriteFile(temp, []byte(text), 0o600))
				require.NoError(b, os.Rename(temp, filepath.Join(requests, id+relay.DoneSuffix)))
				response := filepath.Join(responses, id+relay.DoneSuffix)
				for os.Remove(response) != nil {
					time.Sleep(200 * time.Microsecond)
				}
			}
		})
	}
}
