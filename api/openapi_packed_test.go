package api

import (
	"bytes"
	"os"
	"testing"

	"hubcli/internal/require"
)

// The packed description is the one that people read.
func TestPackedOpenAPI(t *testing.T) {
	want, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	got, err := unpackedOpenAPI()
	require.NoError(t, err)
	if !bytes.Equal(got, want) {
		t.Error("openapi.yaml.gz is not openapi.yaml: run go generate ./api")
	}
}
