package engine

import (
	"crypto/sha256"
	"testing"

	"hubcli/hub"
)

// TestStepKeyIsOfTheFormat: step keys never change. Stores of older versions
// hold answers under them, and a join that was begun before an upgrade is
// finished after it.
func TestStepKeyIsOfTheFormat(t *testing.T) {
	own := &hub.IdempotencyKey{Method: "POST", Path: "/v1/invites/accept", Key: "k", Hash: sha256.Sum256([]byte("body"))}
	want := hub.IdempotencyKey{Method: own.Method, Path: own.Path, Key: "\x00join\x00se_1\x00k", Hash: sha256.Sum256([]byte("k"))}
	if got := StepKey(own, "join\x00se_1"); *got != want {
		t.Errorf("the key is %+v, want %+v", *got, want)
	}
	if got := StepKey(nil, "join\x00se_1"); got != nil {
		t.Errorf("a call without a key has the step key %+v", *got)
	}
}
