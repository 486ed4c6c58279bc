package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var openAPI []byte

// OpenAPI returns openapi.yaml as JSON. The first call converts it: few
// processes need it, and a second form in the tree would have to be kept equal.
// The bytes are shared and must not be changed.
var OpenAPI = sync.OnceValue(func() []byte {
	var document any
	err := yaml.Unmarshal(openAPI, &document)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(document); err == nil {
			return append(text, '\n')
		}
	}
	panic(fmt.Sprintf("api: openapi.yaml is embedded and cannot be read: %v", err))
})
