package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/contract"
)

// TestRoutes: the table and the description name the same operations, and the
// table is sorted.
func TestRoutes(t *testing.T) {
	spec, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	var table []string
	for i := range routes {
		rt := &routes[i]
		segments := strings.Split(rt.path, "/")
		for j, segment := range segments {
			if strings.HasPrefix(segment, ":") || strings.HasPrefix(segment, "*") {
				segments[j] = "{" + segment[1:] + "}"
			}
		}
		table = append(table, strings.Join(segments, "/")+" "+rt.method+" "+rt.operation)
		if i > 0 && strings.Compare(routes[i-1].path+" "+routes[i-1].method, rt.path+" "+rt.method) >= 0 {
			t.Errorf("%s %s is out of order", rt.method, rt.path)
		}
		if rt.changes != (rt.method != http.MethodGet) {
			t.Errorf("%s: changes is %v", rt.operation, rt.changes)
		}
	}
	slices.Sort(table)
	if described := spec.Operations(); !slices.Equal(table, described) {
		t.Errorf("routes and openapi.yaml differ:\nroutes  %s\nopenapi %s",
			strings.Join(table, "\n        "), strings.Join(described, "\n        "))
	}
}

// TestOperatorRoutes: what is the operator's in the table is so in the
// description.
func TestOperatorRoutes(t *testing.T) {
	spec, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range spec.Document.Paths.Map() {
		for _, op := range item.Operations() {
			i := slices.IndexFunc(routes, func(rt route) bool { return rt.operation == op.OperationID })
			described, _ := json.Marshal(op.Security)
			if got := strings.Contains(string(described), "operator"); got != (routes[i].plane == planeOperator) {
				t.Errorf("%s: the description has security %s", op.OperationID, described)
			}
		}
	}
}

func TestAllowed(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages":              "GET, HEAD, POST",
		"/v1/messages/7":            "GET, HEAD",
		"/v1/messages/":             "",
		"/v1/messages/7/":           "",
		"/v1/sessions":              "POST",
		"/v1/sessions/resume":       "DELETE, POST",
		"/v1/sessions/x":            "DELETE",
		"/v1/sessions/x/rename":     "POST",
		"/v1/tasks/3":               "GET, HEAD, POST",
		"/v1/tasks/3/complete":      "POST",
		"/v1/threads":               "GET, HEAD",
		"/v1/threads/a/b/c":         "GET, HEAD",
		"/v1/tool-surface":          "GET, HEAD, PUT",
		"/v1/spawn":                 "GET, HEAD, POST",
		"/v1/spawn/policy":          "GET, HEAD, PUT",
		"/v1/spawn/sp_1":            "GET, HEAD",
		"/v1/spawn/sp_1/stop":       "POST",
		"/v1/shutdown/cancel":       "POST",
		"/v1/shutdown/cancel/again": "",
		"/":                         "",
		"":                          "",
		"*":                         "",
		"/V1/messages":              "",
		"//v1/messages":             "",
	} {
		if got := strings.Join(allowed(path), ", "); got != want {
			t.Errorf("%q allows %q, want %q", path, got, want)
		}
	}
}
