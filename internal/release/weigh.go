package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// weighed is the platform whose executable is weighed.
const weighed = "linux/amd64"

// heaviest is how many lines are printed.
const heaviest = 40

// weigh prints the sections of the delivered executable, and the modules whose code
// and data fill them. The tables that go with code, for stack traces and the garbage
// collector, are not told by module; they grow with the code.
func weigh(ctx context.Context, root string) error {
	stripped, err := buildWhole(ctx, root, weighed, "-s", "-w")
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(stripped))
	if err != nil {
		return err
	}
	fmt.Printf("%9d  the executable for %s\n", len(stripped), weighed)
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Size > 1<<18 {
			fmt.Printf("%9d    section %s\n", s.Size, s.Name)
		}
	}
	whole, err := buildWhole(ctx, root, weighed)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hubcli-weigh-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "hubcli")
	if err := os.WriteFile(path, whole, 0o700); err != nil {
		return err
	}
	symbols, err := output(exec.CommandContext(ctx, "go", "tool", "nm", "-size", path))
	if err != nil {
		return err
	}
	sizes := sizesOf(symbols)
	owners := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, owner := range owners[:min(heaviest, len(owners))] {
		fmt.Printf("%9d  %s\n", sizes[owner], owner)
	}
	return nil
}

var packageOf = regexp.MustCompile(`^((?:[^/()\[\]* ]+/)*[^/.()\[\]* ]+)\.`)

// sizesOf adds up what go tool nm -size says, by module. Memory that is only reserved
// weighs nothing.
func sizesOf(symbols []byte) map[string]int {
	sizes := map[string]int{}
	for lines := bufio.NewScanner(bytes.NewReader(symbols)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || strings.ContainsAny(fields[2], "bBU") {
			continue
		}
		size, err := strconv.Atoi(fields[1])
		if err != nil || fields[3] == "crypto/internal/fips140/drbg.memory" { // reserved, whatever nm says
			continue
		}
		sizes[ownerOf(fields[3])] += size
	}
	return sizes
}

// ownerOf names the module of a symbol, the top folder of one of ours, or "go" for
// the standard library.
func ownerOf(symbol string) string {
	if before, _, found := strings.Cut(symbol, ":"); found {
		return before + ": tables of the linker"
	}
	match := packageOf.FindStringSubmatch(symbol)
	if match == nil {
		return "other"
	}
	parts := strings.Split(match[1], "/")
	switch {
	case !strings.Contains(parts[0], ".") && parts[0] != "hubcli" && parts[0] != "main":
		return "go"
	case parts[0] == "hubcli":
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return strings.Join(parts[:min(3, len(parts))], "/")
}
