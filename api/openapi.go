package api

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"go.yaml.in/yaml/v3"
)

// The executable carries the description packed: that is a quarter of a megabyte less.
//
//go:generate go run ./gen
//go:embed openapi.yaml.gz
var packedOpenAPI []byte

// unpackedOpenAPI returns openapi.yaml.
func unpackedOpenAPI() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packedOpenAPI))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// OpenAPI returns openapi.yaml as JSON. The first call converts it: few
// processes need it, and a second form in the tree would have to be kept equal.
// The bytes are shared and must not be changed.
var OpenAPI = sync.OnceValue(func() []byte {
	var document any
	raw, err := unpackedOpenAPI()
	if err == nil {
		err = yaml.Unmarshal(raw, &document)
	}
	if err == nil {
		var text []byte
		if text, err = json.Marshal(document); err == nil {
			return append(text, '\n')
		}
	}
	panic(fmt.Sprintf("api: openapi.yaml is embedded and cannot be read: %v", err))
})
