package api

import _ "embed"

//go:generate go test hubcli/internal/contract -run TestJSONForm -update

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns openapi.yaml as JSON. The bytes are shared and must not be
// changed.
func OpenAPI() []byte { return openAPI }
