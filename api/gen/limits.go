package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"hubcli/api"
)

// named are the limits of inputs that tools of the bridge take over: in the tags range and most of
// their arguments.
var named = regexp.MustCompile(`(?:range|most):"(\w+)\.(\w+)"`)

// toolLimits makes a function that returns these limits as numbers.
func toolLimits(src *source, root string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(root, "mcp", "tools_*.go"))
	if err != nil {
		return nil, err
	}
	var cases []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			low, high, err := limitsOf(src, m[1], m[2])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
			}
			cases = append(cases, fmt.Sprintf("case %q:\nreturn %q\n", m[1]+"."+m[2], strings.TrimPrefix(low+","+high, ",")))
		}
	}
	slices.Sort(cases)
	var out bytes.Buffer
	out.WriteString(madeBy + `package mcp

// inputLimit returns the limits of a member of an input of the hub, as the tags range and most
// write them: the highest length of a text, or the bounds of a number with a comma between them.
func inputLimit(member string) string {
	switch member {
` + strings.Join(slices.Compact(cases), "") + "}\nreturn member\n}\n")
	return format.Source(out.Bytes())
}

// limitsOf finds the bounds of one member. A text has no lower one.
func limitsOf(src *source, input, member string) (low, high string, err error) {
	for _, op := range api.Operations() {
		if t := op.Body.Type; t != nil && t.Name() == input {
			for f := range fields(t) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != member {
					continue
				}
				b, err := parseBounds(f.Tag.Get("bounds"), src.limits)
				if err != nil || b.high == "" {
					return "", "", fmt.Errorf("%s.%s has no upper bound: %w", input, member, err)
				}
				if f.Type.Kind() == reflect.String {
					b.low = ""
				}
				return b.low, b.high, nil
			}
		}
	}
	return "", "", fmt.Errorf("no operation takes %s.%s", input, member)
}
