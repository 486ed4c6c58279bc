package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hubcli/hub"
)

// frame is what no row and no struct says: how all calls behave, and the scalars.
//
//go:embed frame.yaml
var frame []byte

const generated = "# Made by go generate ./api from api/operations*.go, package hub and api/gen/frame.yaml. Do not change it here.\n"

// describe makes openapi.yaml.
func describe(src *source) ([]byte, error) {
	var begin yaml.Node
	if err := yaml.Unmarshal(frame, &begin); err != nil {
		return nil, err
	}
	document := begin.Content[0]
	components := lookup(document, "components")
	m := &maker{src: src, made: map[string]schema{}}
	if err := m.takeIn(lookup(components, "schemas")); err != nil {
		return nil, err
	}
	paths, err := m.paths()
	if err != nil {
		return nil, err
	}
	if err := put(document, "paths", paths); err != nil {
		return nil, err
	}
	m.of(reflect.TypeFor[hub.Changed]()) // a stream sends it
	var schemas schema
	for _, name := range slices.Sorted(maps.Keys(m.made)) {
		schemas = append(schemas, member{name, m.made[name]})
	}
	if err := put(components, "schemas", schemas); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(generated)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return out.Bytes(), errors.Join(m.wrong...)
}

// lookup returns a member of a mapping that has it.
func lookup(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	panic("frame.yaml has no " + name)
}

// put sets a member of a mapping.
func put(mapping *yaml.Node, name string, value any) error {
	var key, node yaml.Node
	if err := errors.Join(key.Encode(name), node.Encode(value)); err != nil {
		return err
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			mapping.Content[i+1] = &node
			return nil
		}
	}
	mapping.Content = append(mapping.Content, &key, &node)
	return nil
}

// takeIn notes the schemas of the frame.
func (m *maker) takeIn(schemas *yaml.Node) error {
	for i := 0; i < len(schemas.Content); i += 2 {
		s, err := ordered(schemas.Content[i+1])
		if err != nil {
			return err
		}
		m.made[schemas.Content[i].Value] = s
	}
	return nil
}

// ordered reads a mapping of the frame. Only its own members are looked at.
func ordered(node *yaml.Node) (s schema, err error) {
	for i := 0; i < len(node.Content); i += 2 {
		var value any = node.Content[i+1]
		if node.Content[i+1].Kind == yaml.ScalarNode {
			if err := node.Content[i+1].Decode(&value); err != nil {
				return nil, err
			}
		}
		s = append(s, member{node.Content[i].Value, value})
	}
	return s, nil
}

// paths describes all operations, sorted by path and method.
func (m *maker) paths() (schema, error) {
	table := byPath()
	shared, err := readShared()
	if err != nil {
		return nil, err
	}
	var paths schema
	for i := range table {
		op := &table[i]
		described, err := m.operation(op, shared)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.ID, err)
		}
		path := strings.Replace(op.Path, "...}", "}", 1)
		item, _ := paths.get(path).(schema)
		paths = paths.with(path, append(item, member{strings.ToLower(op.Method), described}))
	}
	return paths, nil
}
