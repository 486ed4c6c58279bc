package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// debCompletions says where Debian keeps the completions of the archive.
var debCompletions = map[string]string{
	"completions/hubcli.bash": "usr/share/bash-completion/completions/hubcli",
	"completions/_hubcli":     "usr/share/zsh/vendor-completions/_hubcli",
	"completions/hubcli.fish": "usr/share/fish/vendor_completions.d/hubcli.fish",
}

// deb makes the package of Debian. It runs no script when it is installed or removed, and needs no other package.
func (r *release) deb(b built, shared []file) (string, []byte, error) {
	licenses, err := notice(shared)
	if err != nil {
		return "", nil, err
	}
	files := []file{
		{path: "usr/bin/hubcli", mode: 0o755, data: b.exe},
		{path: "usr/share/doc/hubcli/copyright", mode: 0o644, data: licenses},
	}
	for _, page := range manuals(shared) {
		packed, err := zipped(page.data)
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{path: "usr/share/" + page.path + ".gz", mode: 0o644, data: packed})
	}
	for _, f := range shared {
		if to, ok := debCompletions[f.path]; ok {
			files = append(files, file{path: to, mode: 0o644, data: f.data})
		}
	}
	size := 0
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
	}
	control := fmt.Sprintf("Package: hubcli\nVersion: %s\nArchitecture: %s\nMaintainer: the makers of hubcli\nInstalled-Size: %d\n"+
		"Section: devel\nPriority: optional\nSuggests: git\nDescription: %s\n", debVersion(r.version), b.goarch, size, description)
	parts := []file{{path: "debian-binary", data: []byte("2.0\n")}}
	for _, part := range []struct {
		name  string
		files []file
	}{{"control.tar.gz", []file{{path: "control", mode: 0o644, data: []byte(control)}}}, {"data.tar.gz", files}} {
		packed, err := debTar(part.files, r.time)
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, file{path: part.name, data: packed})
	}
	return fmt.Sprintf("hubcli_%s_%s.deb", debVersion(r.version), b.goarch), packAr(parts, r.time), nil
}

// debVersion is the number of a release as Debian orders it: a candidate comes before its release.
func debVersion(version string) string { return strings.ReplaceAll(version, "-", "~") }

// debTar packs files of root as dpkg wants them: with all their folders, each before what is in it.
func debTar(files []file, at time.Time) ([]byte, error) {
	headers, texts := map[string]*tar.Header{}, map[string][]byte{}
	add := func(name string, h tar.Header, data []byte) {
		h.Name, h.ModTime, h.Format, h.Uname, h.Gname, h.Size = name, at, tar.FormatUSTAR, "root", "root", int64(len(data))
		headers[name], texts[name] = &h, data
	}
	for _, f := range files {
		name := "./" + f.path
		add(name, tar.Header{Typeflag: tar.TypeReg, Mode: int64(f.mode)}, f.data)
		for dir := path.Dir(f.path); ; dir = path.Dir(dir) {
			folder := "./" + dir + "/"
			if dir == "." {
				folder = "./"
			}
			add(folder, tar.Header{Typeflag: tar.TypeDir, Mode: 0o755}, nil)
			if dir == "." {
				break
			}
		}
	}
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(headers[name]); err != nil {
			return nil, err
		}
		if _, err := w.Write(texts[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zipped(b.Bytes())
}

// packAr writes the format of ar(5), which is that of Debian's packages. Names have at most 16 letters.
func packAr(files []file, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.path, at.Unix(), 0, 0, 0o100644, len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
