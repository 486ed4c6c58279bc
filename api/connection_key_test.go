package api

import (
	"strings"
	"testing"
)

// TestKeysAreNoNamesOfVariables: a key that is pasted in the place of the name of its variable
// is refused, and the refusal does not have it.
func TestKeysAreNoNamesOfVariables(t *testing.T) {
	for name, taken := range map[string]bool{
		"OPENAI_API_KEY": true, "_x": true, "my_own_key_2": true, "AZURE_OPENAI_API_KEY_OF_THE_TEAM_2": true,
		"internationalization": true, "COMPANYWIDEGATEWAY24": true,
		"gsk_a8KdmQ2xZ0pLw7Rt4VbN": false, "sk_live_51hq8zj2nf0a9b7c": false, "AIzaSyA1234567890abcdefghijkl": false,
		"0123456789abcdef0123456789abcdef": false, "sk-proj-abc": false,
	} {
		err := validateKey("", name, false, false)
		if (err == nil) != taken {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
