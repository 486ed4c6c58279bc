package contract

import (
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

func TestDescriptionIsValid(t *testing.T) {
	if _, err := Load(); err != nil {
		t.Fatal(err)
	}
}

// TestCodes: the one enum of error codes and package hub agree, and every code
// stands where it may come.
func TestCodes(t *testing.T) {
	spec, err := Load()
	require.NoError(t, err)
	listed := map[hub.Code]bool{}
	for _, v := range spec.Document.Components.Schemas["Code"].Value.Enum {
		listed[hub.Code(v.(string))] = true
	}
	router, err := codes(spec.Document.Extensions, "x-router-codes")
	require.NoError(t, err)
	for code, status := range hub.Codes() {
		if !listed[code] {
			t.Errorf("openapi.yaml does not list %s", code)
		}
		if status < 400 || status > 599 {
			t.Errorf("%s has status %d", code, status)
		}
		anywhere := router[code] || slices.ContainsFunc(spec.operations, func(o operation) bool { return o.codes[code] })
		if !anywhere {
			t.Errorf("no operation may answer %s", code)
		}
		delete(listed, code)
	}
	for code := range listed {
		t.Errorf("openapi.yaml lists %s, which package hub does not know", code)
	}
}
