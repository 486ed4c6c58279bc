package edit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hubcli/internal/require"
)

// fuzzed checks, for any document: no panic, and either a refusal or an edit
// that can be taken back to the byte. Insert itself checks that all other
// values are equal; secondOpinion checks it with another parser.
func fuzzed(t *testing.T, f Format, doc []byte, at Pointer, value any) {
	was := bytes.Clone(doc)
	out, trace, err := Insert(f, doc, at, value)
	if !bytes.Equal(doc, was) {
		t.Fatal("the argument was changed")
	}
	if err != nil {
		if ReasonOf(err) == "" {
			t.Fatalf("%q: an error that is no refusal: %v", doc, err)
		}
		if ReasonOf(err) == Exists {
			_, _ = Replace(f, doc, at, value)
			_, _ = Remove(f, doc, at, Trace{Parents: 9})
		}
		return
	}
	if bytes.Equal(out, doc) { // the entry was there
		_, _ = Remove(f, doc, at, Trace{})
		return
	}
	checkInverse(t, f, doc, out, at, value, trace)
	if f == JSON && json.Valid(doc) {
		secondOpinion(t, doc, out, at)
	}
}

// secondOpinion reads strict JSON with encoding/json.
func secondOpinion(t *testing.T, doc, out []byte, at Pointer) {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(doc, &before) != nil {
		return
	}
	if err := json.Unmarshal(out, &after); err != nil {
		t.Fatalf("%q became %q: %v", doc, out, err)
	}
	for key, value := range before {
		if key != at.Keys[0] && !bytes.Equal(after[key], value) {
			t.Fatalf("%q became %q: %q differs", doc, out, key)
		}
	}
}

func seeds(f *testing.F, ext ...string) {
	for _, e := range ext {
		names, err := filepath.Glob(filepath.Join("testdata", "*", "*"+e))
		require.NoError(f, err)
		for _, name := range names {
			b, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(b)
		}
	}
}

func FuzzJSON(f *testing.F) {
	seeds(f, ".json", ".jsonc")
	f.Fuzz(func(t *testing.T, doc []byte) {
		fuzzed(t, JSON, doc, Pointer{Keys: []string{"mcpServers", "hub"}}, server)
		fuzzed(t, JSON, doc, Pointer{Keys: []string{"hooks", "Stop"}, Mark: "hubcli hook stop"}, hook)
	})
}

func FuzzTOML(f *testing.F) {
	seeds(f, ".toml")
	f.Fuzz(func(t *testing.T, doc []byte) {
		fuzzed(t, TOML, doc, codex, tomlServer)
		fuzzed(t, TOML, doc, kimi, tomlHook)
	})
}

func FuzzYAML(f *testing.F) {
	seeds(f, ".yaml")
	f.Fuzz(func(t *testing.T, doc []byte) { fuzzed(t, YAML, doc, goose, extension) })
}

func FuzzShell(f *testing.F) {
	f.Add([]byte("#!/bin/sh\n\nexit 1\n"))
	f.Add([]byte("#!/usr/bin/env python3\n"))
	f.Fuzz(func(t *testing.T, doc []byte) { fuzzed(t, Shell, doc, block, "x\ny") })
}

func FuzzMarkdown(f *testing.F) {
	seeds(f, ".md")
	f.Fuzz(func(t *testing.T, doc []byte) { fuzzed(t, Markdown, doc, block, advice) })
}
