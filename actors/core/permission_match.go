package core

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"hubcli/hub"
)

// DecidePermission finds the first rule that is about a permission prompt. The verdict is
// PermissionAsk if there is none, or if a rule that denies may be meant: then a human
// looks. by names the rule.
//
// The two kinds of rules read a prompt differently. An allow rule matches only what leaves
// no doubt: one plain command, or the one file of a tool that touches no other. A deny
// rule looks at each part of a command, behind sudo and the like and within sh -c.
func DecidePermission(rules []hub.PermissionRule, in *hub.PermissionInput) (verdict hub.PermissionVerdict, by string) {
	for i := range rules {
		r := &rules[i]
		how := no
		switch r.Decision { //nolint:exhaustive // rules know no other
		case hub.PermissionAllow:
			how = allows(r, in)
		case hub.PermissionDeny:
			how = denies(r, in)
		}
		switch how {
		case yes:
			return r.Decision, fmt.Sprintf("rule %d: %s", i+1, r)
		case maybe:
			return hub.PermissionAsk, ""
		case no:
		}
	}
	return hub.PermissionAsk, ""
}

// matching says whether a rule is about a prompt.
type matching uint8

const (
	no matching = iota
	maybe
	yes
)

func matchingOf(is bool) matching {
	if is {
		return yes
	}
	return no
}

func allows(r *hub.PermissionRule, in *hub.PermissionInput) matching {
	if r.Tool != hub.AnyTool && r.Tool != in.Tool {
		return no
	}
	if in.Unclear && (in.Command != nil || len(r.Words) > 0 || r.Path != "") {
		return no
	}
	if in.Command != nil {
		words, plain := plainCommand(*in.Command)
		return matchingOf(plain && r.Path == "" && len(words) >= len(r.Words) && slices.Equal(words[:len(r.Words)], r.Words))
	}
	switch {
	case len(r.Words) > 0:
		return no
	case r.Path != "":
		return matchingOf(tidy(in.File) && tidy(in.RealFile) && within(in.RealFile, r.Path))
	}
	return yes
}

func denies(r *hub.PermissionRule, in *hub.PermissionInput) matching {
	if r.Tool != hub.AnyTool && !strings.EqualFold(r.Tool, in.Tool) {
		return no
	}
	switch {
	case len(r.Words) > 0 && in.Command == nil:
		return no
	case len(r.Words) > 0:
		return commandHas(*in.Command, r.Words)
	case r.Path == "":
		return yes
	}
	folder := strings.ToLower(r.Path)
	for _, file := range append([]string{in.File, in.RealFile}, in.Files...) {
		if within(strings.ToLower(path.Clean(file)), folder) {
			return yes
		}
	}
	if in.Command != nil && strings.Contains(strings.ToLower(unquoted(*in.Command)), path.Base(folder)) {
		return maybe
	}
	return no
}

// tidy reports whether a path is absolute and says by its letters where it leads.
func tidy(file string) bool {
	if strings.HasPrefix(file, "/") {
		return path.Clean(file) == file
	}
	return len(file) > 2 && file[1] == ':' && !slices.Contains(strings.FieldsFunc(file, isSeparator), "..")
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// within reports whether a path is a folder or leads into it. A path of Windows has the
// other separator.
func within(file, folder string) bool {
	separator := "/"
	if !strings.HasPrefix(folder, separator) {
		separator = `\`
	}
	folder = strings.TrimRight(folder, separator)
	rest, ok := strings.CutPrefix(file, folder)
	return ok && file != "" && (rest == "" || strings.HasPrefix(rest, separator))
}
