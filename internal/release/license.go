package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenses are the licenses that ask for a notice and nothing else, each with sentences
// that only its text has. A text that matches none of them is unknown, and stops the
// notices until somebody has read it.
var licenses = []struct {
	id        string
	but       string // a license that has the same sentences and more
	sentences []string
}{
	{"Apache-2.0", "", []string{"apache license version 2.0, january 2004", "grant of patent license"}},
	{"Apache-2.0", "", []string{`licensed under the apache license, version 2.0 (the "license")`}},
	{"MIT", "", []string{
		"permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files",
		"without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense",
	}},
	{"BSD-3-Clause", "", []string{bsd, "be used to endorse or promote products derived from this software without specific prior written permission"}},
	{"BSD-2-Clause", "BSD-3-Clause", []string{bsd, `provided by the copyright holders and contributors "as is"`}},
	{"ISC", "", []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"}},
	{"ISC", "", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"}},
}

const bsd = "redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met"

// copyleft are words of licenses that ask for more than a notice. A text with one of
// them is unknown, whatever else it says.
var copyleft = regexp.MustCompile(`gnu (lesser |affero )?general public license|mozilla public license|server side public license|business source license|commons clause`)

// A Go module keeps its license in files of these names: the license itself, and
// beside it what has to be passed on with it.
var (
	licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-.].*)?$`)
	besideName  = regexp.MustCompile(`(?i)^(notice|patents|copyright)(\.(md|txt))?$`)
)

// licenseIDs names the licenses that a text holds: some files hold several.
func licenseIDs(text string) ([]string, error) {
	plain := strings.ToLower(strings.Join(strings.Fields(strings.NewReplacer("“", `"`, "”", `"`, "//", " ", "*", " ").Replace(text)), " "))
	if found := copyleft.FindString(plain); found != "" {
		return nil, fmt.Errorf("it speaks of the %s", found)
	}
	var ids []string
	for _, l := range licenses {
		lacks := func(sentence string) bool { return !strings.Contains(plain, sentence) }
		if slices.Contains(ids, l.id) || slices.Contains(ids, l.but) || slices.ContainsFunc(l.sentences, lacks) {
			continue
		}
		ids = append(ids, l.id)
	}
	if len(ids) == 0 {
		return nil, errors.New("the text is none that is known")
	}
	return ids, nil
}

// licenseFile is a file that has to be passed on.
type licenseFile struct {
	path string   // within the module, with slashes
	ids  []string // empty for a file beside a license, such as a notice
	text string
}

// licenseFiles collects the files of a module for its linked packages: those in each
// package's folder and in the folders above it, up to the module's root. A package
// that was copied from elsewhere keeps its license so.
func licenseFiles(moduleDir string, packageDirs []string) ([]licenseFile, error) {
	dirs := map[string]bool{}
	for _, dir := range packageDirs {
		for ; len(dir) > len(moduleDir); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	dirs[moduleDir] = true
	var files []licenseFile
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			known := licenseName.MatchString(e.Name())
			if !e.Type().IsRegular() || !known && !besideName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			f, err := readLicense(moduleDir, filepath.Join(dir, e.Name()), known)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b licenseFile) int { return strings.Compare(a.path, b.path) })
	if !slices.ContainsFunc(files, func(f licenseFile) bool { return len(f.ids) > 0 && !strings.Contains(f.path, "/") }) {
		return nil, fmt.Errorf("there is no license in %s", moduleDir)
	}
	return files, nil
}

func readLicense(moduleDir, path string, classify bool) (licenseFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return licenseFile{}, err
	}
	rel, err := filepath.Rel(moduleDir, path)
	if err != nil {
		return licenseFile{}, err
	}
	f := licenseFile{path: filepath.ToSlash(rel), text: tidy(string(text))}
	if classify {
		if f.ids, err = licenseIDs(f.text); err != nil {
			return f, fmt.Errorf("%s: %w: read it, and add its sentences to the table of licenses if it may be linked", path, err)
		}
	}
	return f, nil
}

// tidy gives texts that differ in the ends of lines and in blank lines around them
// the same bytes.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}
