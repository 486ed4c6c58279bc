package api

import _ "embed"

//go:generate go run hubcli/internal/contract/openapijson openapi.yaml openapi.json

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns openapi.yaml as JSON. The bytes are shared and must not be
// changed.
func OpenAPI() []byte { return openAPI }
