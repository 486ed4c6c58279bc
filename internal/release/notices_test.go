package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// root is the module's root as seen from this package.
var root = filepath.Join("..", "..")

// TestNoticesAreThoseOfTheLinkedModules fails when a module is added, dropped or
// changed, and when a linked module has a license that nobody has looked at.
func TestNoticesAreThoseOfTheLinkedModules(t *testing.T) {
	want, err := notices(t.Context(), root)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, noticesFile))
	require.NoError(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not tell of what is linked; run: go run ./internal/release notices", noticesFile)
	}
	// Something of every kind: the standard library, a module of one platform, a
	// copied package within a module.
	for _, line := range []string{
		"Go standard library and runtime (BSD-3-Clause)\n", "\ngithub.com/inconshreveable/mousetrap v1", "\ngithub.com/klauspost/compress: zstd/internal/xxhash/LICENSE.txt\n",
	} {
		if !bytes.Contains(want, []byte(line)) {
			t.Errorf("the notices lack %q", line)
		}
	}
}

const (
	mitText = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software and associated documentation files (the \"Software\"), " +
		"to deal in the Software\nwithout restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense"
	bsd2Text = "* Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions\r\n" +
		"are met: THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS “AS IS”"
	bsd3Text = bsd2Text + " may be used to endorse or promote products derived from this software without specific prior written permission"
)

func TestLicensesAreKnownByTheirText(t *testing.T) {
	for text, want := range map[string][]string{
		mitText:                   {"MIT"},
		bsd2Text:                  {"BSD-2-Clause"},
		bsd3Text:                  {"BSD-3-Clause"},
		mitText + "\n" + bsd3Text: {"MIT", "BSD-3-Clause"},
		"Do what you want.":       nil,
		mitText + "\nor the GNU Affero General Public License": nil,
	} {
		got, err := licenseIDs(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%.40q: %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestLicensesOfAModule(t *testing.T) {
	write := func(dir, name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	dir := t.TempDir()
	linked := []string{dir, filepath.Join(dir, "a", "b")}
	write(dir, "a/b/b.go", "package b")
	if _, err := licenseFiles(dir, linked); err == nil || !strings.Contains(err.Error(), "there is no license") {
		t.Errorf("a module without a license: %v", err)
	}
	write(dir, "LICENSE", mitText)
	write(dir, "NOTICE", "made by somebody")
	write(dir, "license.go", "package a")
	write(dir, "a/COPYING.txt", bsd3Text)
	write(dir, "other/LICENSE", "not linked, not asked for")
	files, err := licenseFiles(dir, linked)
	var got []string
	for _, f := range files {
		got = append(got, f.path+" "+strings.Join(f.ids, "+"))
	}
	if want := []string{"LICENSE MIT", "NOTICE ", "a/COPYING.txt BSD-3-Clause"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("files %q (%v), want %q", got, err, want)
	}
	write(dir, "a/b/LICENSE", "Ask me first.")
	if _, err := licenseFiles(dir, linked); err == nil || !strings.Contains(err.Error(), "is none that is known") {
		t.Errorf("a module with a text that nobody knows: %v", err)
	}
}
