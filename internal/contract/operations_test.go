package contract

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hubcli/api"
)

// TestOperations: every row of the table of operations is complete, and openapi.yaml, which is made
// of the rows, describes what they say.
func TestOperations(t *testing.T) {
	spec := load(t)
	described := map[string]operation{}
	for _, o := range spec.operations {
		described[o.id] = o
	}
	table := api.Operations()
	for i := range table {
		row := &table[i]
		o, ok := described[row.ID]
		if !ok {
			t.Errorf("%s is not in openapi.yaml, or has two rows: give each row an id, method and path of its own, and run go generate ./api", row.ID)
			continue
		}
		delete(described, row.ID)
		if want := strings.Replace(row.Path, "...}", "}", 1); o.path != want || o.method != row.Method {
			t.Errorf("%s is %s %s in its row and %s %s in openapi.yaml", row.ID, row.Method, want, o.method, o.path)
		}
		if strings.Count(row.Path, "{") > 1 {
			t.Errorf("%s: a path has at most one parameter", row.ID)
		}
		security, _ := json.Marshal(o.op.Security)
		if strings.Contains(string(security), "operator") != (row.Plane == api.PlaneOperator) {
			t.Errorf("%s: openapi.yaml has the security %s, its row another plane", row.ID, security)
		}
		compareInput(t, row, o.op)
	}
	for id, o := range described {
		t.Errorf("%s (%s %s) is in openapi.yaml and has no row: run go generate ./api", id, o.method, o.path)
	}
}

// compareInput compares what a row says that a call sends with what its comment and its input say.
func compareInput(t *testing.T, row *api.Operation, op *openapi3.Operation) {
	t.Helper()
	names, agents := map[string]bool{}, []string{"agent_id", "as", "session_id"}
	for _, p := range op.Parameters {
		names[p.Value.Name] = true
	}
	schema := ""
	if op.RequestBody != nil {
		ref := op.RequestBody.Value.Content.Get(api.ContentType).Schema
		schema = path.Base(ref.Ref)
		for member := range ref.Value.Properties {
			names[member] = true
		}
		agents = append(agents, "by", "created_by", "from_agent", "prior_session_id")
	}
	empty := row.Body.Type != nil && row.Body.Type.NumField() == 0 // described as one, or not at all
	if !empty && (row.Body.Type != nil != (schema != "") || row.Body.Type != nil && row.Body.Type.Name() != schema) {
		t.Errorf("%s: the body is a %v in its row and a %q in openapi.yaml", row.ID, row.Body.Type, schema)
	}
	if row.Agent != "" && !names[row.Agent] {
		t.Errorf("%s: the comment of its row does not describe %s, which names the agent", row.ID, row.Agent)
	}
	if row.Plane == api.PlaneAgent && row.Agent == "" && slices.ContainsFunc(agents, func(name string) bool { return names[name] }) {
		t.Errorf("%s: say in Agent of its row which parameter names the agent that calls", row.ID)
	}
	if (row.Wait.By == api.WaitTimeout) != names["timeout"] || (row.Wait.By == api.WaitSec) != names["wait_sec"] {
		t.Errorf("%s: Wait of its row and its parameters differ", row.ID)
	}
	if row.Plane == api.PlaneAgent && row.Changes() != slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == api.HeaderIdempotency }) {
		t.Errorf("%s: an agent's call that changes something takes %s, another does not", row.ID, api.HeaderIdempotency)
	}
	if row.Polls && row.Method != http.MethodGet {
		t.Errorf("%s: a call that changes something is work: it cannot poll", row.ID)
	}
}
