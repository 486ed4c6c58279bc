package client_test

import (
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// BenchmarkConnect is a connection with one call on it, to a hub that proves itself and to one
// that is not noted: the difference is what a proof costs once a connection.
func BenchmarkConnect(b *testing.B) {
	h := testhub.Start(b)
	for name, root := range map[string]string{"proved": h.DataRoot, "believed": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := client.New(client.Config{BaseURL: h.URL, DataRoot: root})
				if _, _, err := c.Agents(b.Context(), hub.AgentsQuery{}); err != nil || c.Proved() != (name == "proved") {
					b.Fatal(c.Proved(), err)
				}
				c.Close()
			}
		})
	}
}
