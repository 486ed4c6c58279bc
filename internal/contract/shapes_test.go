package contract

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
)

// shapes are the structs of the wire by the name of their schema: all that the
// services of package hub and the table of operations take and return, and what
// these are made of. A struct and its schema have the same name, with these
// exceptions.
var shapes = func() map[string]reflect.Type {
	found := map[string]reflect.Type{}
	for _, service := range []reflect.Type{
		reflect.TypeFor[hub.Service](), reflect.TypeFor[hub.Status](), reflect.TypeFor[hub.Control](), reflect.TypeFor[hub.Adapters](), reflect.TypeFor[hub.Browsers](), reflect.TypeFor[hub.Capsules](), reflect.TypeFor[hub.CapsuleImports](), reflect.TypeFor[hub.Licenses](), reflect.TypeFor[hub.Overviews](),
	} {
		for i := range service.NumMethod() {
			method := service.Method(i).Type
			for j := range method.NumIn() {
				collect(found, method.In(j))
			}
			for j := range method.NumOut() {
				collect(found, method.Out(j))
			}
		}
	}
	for _, op := range api.Operations() {
		if op.Body.Type != nil {
			collect(found, op.Body.Type)
		}
	}
	collect(found, reflect.TypeFor[hub.Message]())   // services return it encoded
	collect(found, reflect.TypeFor[hub.Changed]())   // a stream sends it as the data of an event
	collect(found, reflect.TypeFor[hub.PassProof]()) // the edge makes it
	found["HubInfo"], found["AttachmentInput"] = found["Info"], found["Attachment"]
	found["Error"] = reflect.TypeFor[api.Failure]()
	return found
}()

// collect adds the structs of package hub that a type is made of.
func collect(found map[string]reflect.Type, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		collect(found, t.Elem())
	case reflect.Map:
		collect(found, t.Elem())
	case reflect.Struct:
		if found[t.Name()] != nil || !strings.HasSuffix(t.PkgPath(), "/hub") {
			return
		}
		found[t.Name()] = t
		for i := range t.NumField() {
			collect(found, t.Field(i).Type)
		}
	}
}

// unbound are the schemas that no struct stands for: envelopes, scalars, a map, and
// what is written as it is.
func unbound(name string, schema *openapi3.Schema) bool {
	return strings.HasSuffix(name, "Answer") || !schema.Type.Is("object") ||
		slices.Contains([]string{"Metadata", "More", "Health", "OpenAPI"}, name)
}

func TestEverySchemaIsBound(t *testing.T) {
	spec := load(t)
	for name, ref := range spec.Document.Components.Schemas {
		if _, ok := shapes[name]; !ok && !unbound(name, ref.Value) {
			t.Errorf("schema %s: give a struct of package hub this name, and let a service take or return it", name)
		}
	}
}

func load(t *testing.T) *Spec {
	t.Helper()
	spec, err := Load()
	require.NoError(t, err)
	return spec
}

// TestShapes: names, optionality, nullability and types of every member agree.
func TestShapes(t *testing.T) {
	spec := load(t)
	compared := 0
	for name, goType := range shapes {
		ref := spec.Document.Components.Schemas[name]
		if ref == nil {
			continue // a query, or a struct that carries others
		}
		compared++
		input := strings.HasSuffix(name, "Input")
		seen := map[string]bool{}
		for _, f := range reflect.VisibleFields(goType) {
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || tag == "" {
				continue
			}
			seen[tag] = true
			property := ref.Value.Properties[tag]
			if property == nil {
				t.Errorf("%s.%s is not described", name, tag)
				continue
			}
			where := name + "." + tag
			optional := strings.Contains(options, "omitempty")
			required := slices.Contains(ref.Value.Required, tag)
			fromSession := property.Value.Extensions["x-from-session"] == true
			if required == optional && !fromSession || required && fromSession {
				t.Errorf("%s: required %v, omitempty %v, from the session %v", where, required, optional, fromSession)
			}
			wantNull := f.Type.Kind() == reflect.Pointer
			if input {
				wantNull = !required
			}
			if tag != "content" && tag != "type" && tag != "kind" && nullable(property.Value) != wantNull {
				t.Errorf("%s: nullable %v, want %v", where, nullable(property.Value), wantNull)
			}
			if want := jsonType(f.Type); want != "" && !hasType(property.Value, want) {
				t.Errorf("%s is no %s", where, want)
			}
		}
		for member := range ref.Value.Properties {
			if !seen[member] {
				t.Errorf("%s.%s is described, but the struct does not have it", name, member)
			}
		}
	}
	if compared < 80 {
		t.Errorf("only %d structs are compared", compared)
	}
}

func nullable(s *openapi3.Schema) bool { return hasType(s, "null") }

func hasType(s *openapi3.Schema, name string) bool {
	if s.Type != nil && s.Type.Includes(name) {
		return true
	}
	return slices.ContainsFunc(s.AnyOf, func(ref *openapi3.SchemaRef) bool { return hasType(ref.Value, name) })
}

// jsonType returns the JSON type of a field, or "" if it may have any.
func jsonType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[hub.Time]():
		return "string"
	case t == reflect.TypeFor[json.RawMessage]():
		return "" // metadata is an object, content any
	case t == reflect.TypeFor[[]byte]():
		return "string" // base 64
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return ""
}

// TestEnums: the closed sets of package hub are those of the description.
func TestEnums(t *testing.T) {
	spec := load(t)
	schemas := spec.Document.Components.Schemas
	property := func(schema, name string) []any { return schemas[schema].Value.Properties[name].Value.Enum }
	for _, c := range []struct {
		name string
		got  []any
		want any
	}{
		{"Kind", schemas["Kind"].Value.Enum, hub.Kinds()},
		{"Harness", schemas["Harness"].Value.Enum, hub.Harnesses()},
		{"TaskStatus", schemas["TaskStatus"].Value.Enum, hub.TaskStatuses()},
		{"Feature", schemas["Feature"].Value.Enum, []hub.Feature{
			hub.FeatureSSE, hub.FeatureRelay, hub.FeatureLongPollKeep, hub.FeatureSubtaskRollup,
			hub.FeatureRPCKinds, hub.FeatureCapabilityFilter, hub.FeatureShutdownControl, hub.FeatureSessionRename,
			hub.FeatureIdempotency, hub.FeatureFencing, hub.FeatureLeaseWait, hub.FeatureRooms, hub.FeatureWatch,
			hub.FeatureSearch, hub.FeatureAutoRooms,
		}},
		{"Attachment.type", property("Attachment", "type"), []hub.AttachmentType{
			hub.AttachmentText, hub.AttachmentJSON, hub.AttachmentCode, hub.AttachmentFileRef, hub.AttachmentDiffRef,
		}},
		{"Message.authority", property("Message", "authority"), []hub.Authority{
			hub.AuthorityAgent, hub.AuthorityOperator, hub.AuthoritySystem,
		}},
		{"Message.assurance", property("Message", "assurance"), []hub.Assurance{
			hub.AssuranceAsserted, hub.AssuranceSession, hub.AssuranceOperator, hub.AssuranceRelay,
		}},
		{"ThreadSummary.status", property("ThreadSummary", "status"), []hub.ThreadStatus{
			hub.ThreadCompleted, hub.ThreadOpen, hub.ThreadWaiting,
		}},
		{"DebugOwner.state", property("DebugOwner", "state"), []hub.OwnerState{hub.OwnerIdle, hub.OwnerBusy, hub.OwnerQuarantined}},
		{"ParkedCall.kind", property("ParkedCall", "kind"), []hub.ParkedKind{hub.ParkedPoll, hub.ParkedWatch, hub.ParkedLease}},
		{"DebugRecord.state", property("DebugRecord", "state"), []hub.RecordState{
			hub.RecordFilling, hub.RecordReady, hub.RecordCommitting, hub.RecordDurable,
		}},
		{"profile", schemas["ProfileKind"].Value.Enum, hub.ProfileKinds()},
		{"JournalStatus.state", property("JournalStatus", "state"), []hub.JournalState{
			hub.JournalOK, hub.JournalFull, hub.JournalFailed,
		}},
	} {
		got, _ := json.Marshal(c.got)
		want, _ := json.Marshal(c.want)
		if string(got) != string(want) {
			t.Errorf("%s: described %s, package hub has %s", c.name, got, want)
		}
	}
}

// TestLimits: numbers that stand in both places are the same.
func TestLimits(t *testing.T) {
	schemas := load(t).Document.Components.Schemas
	property := func(schema, name string) *openapi3.Schema { return schemas[schema].Value.Properties[name].Value }
	for where, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"ID":                      {schemas["ID"].Value.Max, hub.MaxMessageID},
		"ClaimInput.ttl_sec min":  {property("ClaimInput", "ttl_sec").Min, hub.MinTTLSec},
		"ClaimInput.ttl_sec max":  {property("ClaimInput", "ttl_sec").Max, hub.MaxTTLSec},
		"ClaimInput.wait_sec max": {property("ClaimInput", "wait_sec").Max, hub.MaxWaitSec},
		"ShutdownInput.delay_sec": {property("ShutdownInput", "delay_sec").Max, hub.MaxShutdownDelay.Seconds()},
	} {
		if c.got == nil || *c.got != c.want {
			t.Errorf("%s is not %v", where, c.want)
		}
	}
	for where, c := range map[string]struct {
		got  *uint64
		want uint64
	}{
		"Name":                       {schemas["Name"].Value.MaxLength, hub.MaxNameChars},
		"LockInput.file_path":        {property("LockInput", "file_path").MaxLength, hub.MaxFilePathChars},
		"Task.title":                 {property("Task", "title").MaxLength, hub.MaxTitleChars},
		"ProjectInput.slug":          {property("ProjectInput", "slug").MaxLength, hub.MaxSlugChars},
		"RoomInput.topic":            {property("RoomInput", "topic").MaxLength, hub.MaxTopicChars},
		"RoomInput.force_reason":     {property("RoomInput", "force_reason").MaxLength, hub.MaxReasonChars},
		"RenameInput.display_name":   {property("RenameInput", "display_name").MaxLength, hub.MaxDisplayNameChars},
		"RegisterInput.capabilities": {property("RegisterInput", "capabilities").MaxItems, hub.MaxCapabilities},
		"TaskUpdateInput.blocked_by": {property("TaskUpdateInput", "blocked_by").MaxItems, hub.MaxBlockedBy},
	} {
		if c.got == nil || *c.got != c.want {
			t.Errorf("%s is not %v", where, c.want)
		}
	}
}
