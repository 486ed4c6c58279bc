package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"hubcli/api"
	"hubcli/hub"
)

// Spec is the description, ready to check with.
type Spec struct {
	Document   *openapi3.T
	operations []operation
	schemas    map[string]*jsonschema.Schema // by name
}

// operation is one operation of the description.
type operation struct {
	id     string
	method string
	path   string
	op     *openapi3.Operation
	codes  map[hub.Code]bool // that the operation may answer
}

// Load reads the description that the daemon serves and checks it by itself.
func Load() (*Spec, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("contract: openapi.json: %w", err)
	}
	if err := doc.Validate(openapi3.NewLoader().Context); err != nil {
		return nil, fmt.Errorf("contract: openapi.json: %w", err)
	}
	s := &Spec{Document: doc}
	if err := s.compile(); err != nil {
		return nil, err
	}
	return s, s.index()
}

// compile makes validators of the component schemas. What the hub answers may
// hold no member that is not described, though a client must put up with such.
func (s *Spec) compile() error {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.OpenAPI()))
	if err != nil {
		return fmt.Errorf("contract: %w", err)
	}
	doc := raw.(map[string]any)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for name, schema := range schemas {
		if !strings.HasSuffix(name, "Input") {
			closeObjects(schema)
		}
	}
	const base = "hub:///openapi.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(base, doc); err != nil {
		return fmt.Errorf("contract: %w", err)
	}
	s.schemas = make(map[string]*jsonschema.Schema, len(schemas))
	for name := range schemas {
		compiled, err := compiler.Compile(base + "#/components/schemas/" + name)
		if err != nil {
			return fmt.Errorf("contract: schema %s: %w", name, err)
		}
		s.schemas[name] = compiled
	}
	return nil
}

// closeObjects forbids unknown members wherever members are described.
func closeObjects(schema any) {
	switch node := schema.(type) {
	case map[string]any:
		if _, described := node["properties"].(map[string]any); described {
			if _, said := node["additionalProperties"]; !said {
				node["additionalProperties"] = false
			}
		}
		for _, child := range node {
			closeObjects(child)
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

// index collects the operations and what each may answer.
func (s *Spec) index() error {
	common, err := codes(s.Document.Extensions, "x-common-codes")
	if err != nil {
		return err
	}
	writes, err := codes(s.Document.Extensions, "x-write-codes")
	if err != nil {
		return err
	}
	for path, item := range s.Document.Paths.Map() {
		for method, op := range item.Operations() {
			own, err := codes(op.Extensions, "x-codes")
			if err != nil {
				return err
			}
			may := maps.Clone(common)
			maps.Copy(may, own)
			if method != http.MethodGet {
				maps.Copy(may, writes)
			}
			s.operations = append(s.operations, operation{
				id: op.OperationID, method: method, path: path, op: op, codes: may,
			})
		}
	}
	slices.SortFunc(s.operations, func(a, b operation) int { return strings.Compare(a.id, b.id) })
	return nil
}

// codes reads a list of error codes from an extension.
func codes(extensions map[string]any, name string) (map[hub.Code]bool, error) {
	set := map[hub.Code]bool{}
	value, ok := extensions[name]
	if !ok {
		return set, nil
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var list []hub.Code
	if err := json.Unmarshal(encoded, &list); err != nil {
		return nil, fmt.Errorf("contract: %s: %w", name, err)
	}
	known := hub.Codes()
	for _, code := range list {
		if _, ok := known[code]; !ok {
			return nil, fmt.Errorf("contract: %s names %q, which is no code", name, code)
		}
		set[code] = true
	}
	return set, nil
}

// Operations returns all operations as "METHOD path operationId", sorted by path
// and method.
func (s *Spec) Operations() []string {
	var list []string
	for _, o := range s.operations {
		list = append(list, o.path+" "+o.method+" "+o.id)
	}
	slices.Sort(list)
	return list
}

// find returns the operation of a request, or nil.
func (s *Spec) find(method, path string) *operation {
	op, _ := api.FindOperation(method, path)
	if op == nil {
		return nil
	}
	i := slices.IndexFunc(s.operations, func(o operation) bool { return o.id == op.ID })
	return &s.operations[i]
}

// answer returns the description of an answer with this status.
func (o *operation) answer(status int) *openapi3.Response {
	if ref := o.op.Responses.Status(status); ref != nil {
		return ref.Value
	}
	if status >= http.StatusBadRequest {
		return o.op.Responses.Default().Value
	}
	return nil
}

// validate checks a JSON text against a component schema.
func (s *Spec) validate(ref string, text []byte) error {
	name := strings.TrimPrefix(ref, "#/components/schemas/")
	schema, ok := s.schemas[name]
	if !ok {
		return fmt.Errorf("there is no schema %q", ref)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("not a %s: %w", name, err)
	}
	return nil
}
