package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/internal/target"
)

// noticesFile holds the licenses of everything that is linked, for any platform.
const noticesFile = "THIRD_PARTY_NOTICES.txt"

// linkedModule is a module of other people with the packages that are linked.
type linkedModule struct {
	path, version string
	dir           string
	packages      []string // their folders
	files         []licenseFile
}

// ids are the licenses of the module, joined.
func (m *linkedModule) ids() string {
	var ids []string
	for _, f := range m.files {
		ids = append(ids, f.ids...)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), ", ")
}

// writeNotices rewrites noticesFile.
func writeNotices(ctx context.Context, root string) error {
	text, err := notices(ctx, root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, noticesFile), text, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d KB\n", noticesFile, len(text)>>10)
	return nil
}

// notices renders the notices. A text that several modules share stands there once.
func notices(ctx context.Context, root string) ([]byte, error) {
	modules, err := linkedModules(ctx, root)
	if err != nil {
		return nil, err
	}
	type entry struct {
		text string
		of   []string
	}
	var entries []*entry
	byText := map[string]*entry{}
	for _, m := range modules {
		for _, f := range m.files {
			e := byText[f.text]
			if e == nil {
				e = &entry{text: f.text}
				byText[f.text], entries = e, append(entries, e)
			}
			e.of = append(e.of, fmt.Sprintf("%s: %s", m.path, f.path))
		}
	}
	var b bytes.Buffer
	b.WriteString("Third-party software in hubcli\n\nThe executable contains the modules below, on one platform or another. Their licenses\n" +
		"follow. The list is generated from the modules that are linked:\n\n    go run ./internal/release notices\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "%s %s (%s)\n", m.path, m.version, m.ids())
	}
	rule := strings.Repeat("=", 80)
	for _, e := range entries {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s", rule, strings.Join(e.of, "\n"), rule, e.text)
	}
	return b.Bytes(), nil
}

// copied is what the executable holds of other people besides modules: what was copied into
// a folder of the project, which keeps its license there.
var copied = []linkedModule{
	{path: "github.com/blevesearch/vellum", version: "v1.2.0, changed", dir: "third_party/vellum", packages: []string{"third_party/vellum/levenshtein"}},
	{path: "github.com/google/jsonschema-go", version: "v0.4.3, changed", dir: "third_party/jsonschema"},
	{path: "github.com/gitleaks/gitleaks", version: "b58d3f102cf3, some of its rules", dir: "capsule/redact/rules"},
}

// linkedModules lists what the executable links, on any platform, with its license
// files. Go's own library and runtime are among them, without a version: it is that
// of the Go that builds.
func linkedModules(ctx context.Context, root string) ([]*linkedModule, error) {
	byPath := map[string]*linkedModule{}
	for _, platform := range target.Platforms {
		out, err := output(goCommand(ctx, root, platform, "list", "-deps", "-json=Dir,Standard,Module", executable))
		if err != nil {
			return nil, err
		}
		if err := addModules(byPath, out); err != nil {
			return nil, err
		}
	}
	goroot, err := output(goCommand(ctx, root, target.Platforms[0], "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	modules := []*linkedModule{{path: "Go", version: "standard library and runtime", dir: strings.TrimSpace(string(goroot))}}
	for _, m := range byPath {
		modules = append(modules, m)
	}
	for _, m := range copied {
		m.dir = filepath.Join(root, filepath.FromSlash(m.dir))
		m.packages = slices.Clone(m.packages)
		for i, dir := range m.packages {
			m.packages[i] = filepath.Join(root, filepath.FromSlash(dir))
		}
		modules = append(modules, &m)
	}
	slices.SortFunc(modules[1:], func(a, b *linkedModule) int { return cmp.Compare(a.path, b.path) })
	for _, m := range modules {
		if m.files, err = licenseFiles(m.dir, m.packages); err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
	}
	return modules, nil
}

// addModules adds what go list says of one platform. The project's own modules and
// the standard library are left out.
func addModules(byPath map[string]*linkedModule, list []byte) error {
	for dec := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir string
				Main               bool
				Replace            *struct{ Version string }
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		if r := p.Module.Replace; r != nil && r.Version == "" {
			continue // a folder of the project
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &linkedModule{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir}
			byPath[m.path] = m
		}
		if !slices.Contains(m.packages, p.Dir) {
			m.packages = append(m.packages, p.Dir)
		}
	}
}
