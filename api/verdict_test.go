package api_test

import (
	"strings"
	"testing"

	"hubcli/api"
)

func TestCheckNonce(t *testing.T) {
	for s, want := range map[string]bool{
		strings.Repeat("a", 16): true, strings.Repeat("Z", 64): true, "0123456789_-abcd": true,
		"": false, strings.Repeat("a", 15): false, strings.Repeat("a", 65): false, "0123456789abcde ": false,
		"0123456789abcd\n1": false, "0123456789abcdef\n": false, "0123456789abcdeä": false, "0123456789abcd/.": false,
	} {
		if err := api.CheckNonce("nonce", s); (err == nil) != want {
			t.Errorf("CheckNonce(%q) = %v", s, err)
		}
	}
}
