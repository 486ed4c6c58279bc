// Package jsoniter stands in for the module github.com/json-iterator/go, by a replace
// line in go.mod. The search engine's package for places on the globe wants that module
// for what it does with encoding/json's functions, and the hub stores no places. The
// module looks methods up by name. A program that links it keeps every exported method
// of every type: 6 MB of 34. Package text/template has the same effect, so no delivered
// code may use it either.
//
// All functions may be called from any goroutine. The package never does more than
// encoding/json.
package jsoniter

import "encoding/json"

// API has the methods that the search engine calls.
type API struct{}

// Marshal is that of encoding/json.
func (API) Marshal(v any) ([]byte, error) { return json.Marshal(v) }

// Unmarshal is that of encoding/json.
func (API) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// ConfigCompatibleWithStandardLibrary is the configuration that the search engine uses.
var ConfigCompatibleWithStandardLibrary API
