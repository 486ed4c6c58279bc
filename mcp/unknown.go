package mcp

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hubcli/hub"
	"hubcli/internal/near"
	"hubcli/internal/peertext"
)

// otherNames are what other programs call an argument, by its parts in lower case, joined by _.
// The first of the names that the tool takes is meant.
var otherNames = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"message": {"body", "message_id", "text"}, "content": {"body", "text"}, "text": {"body", "note"}, "msg": {"body"},
		"to": {"to_agent", "offer_to"}, "recipient": {"to_agent"}, "from": {"from_agent"}, "sender": {"from_agent"},
		"agent": {"to_agent", "agent_id", "assignee", "from_agent"}, "owner": {"assignee"}, "assigned_to": {"assignee"},
		"path": {"file_path", "files"}, "file": {"file_path", "files"}, "filename": {"file_path"}, "paths": {"files"}, "file_paths": {"files"},
		"reason": {"note", "force_reason"}, "result": {"note"}, "summary": {"note"}, "description": {"note", "topic", "body"}, "comment": {"note"},
		"wait": {"wait_seconds", "timeout_seconds"}, "timeout": {"timeout_seconds", "wait_seconds"}, "seconds": {"timeout_seconds", "wait_seconds", "ttl_sec"},
		"expires_in": {"ttl_sec"}, "duration": {"ttl_sec"}, "thread": {"thread_id"}, "parent": {"parent_task_id"}, "after": {"since_id", "blocked_by"},
		"depends_on": {"blocked_by"}, "state": {"status"}, "max": {"limit"}, "count": {"limit"}, "page_size": {"limit"}, "q": {"query"}, "search": {"query"},
		"value": {"text"}, "fact": {"text"}, "invite": {"code"}, "invite_code": {"code"}, "tool": {"name"}, "args": {"arguments"}, "input": {"arguments"}, "parameters": {"arguments"},
	}
})

// maxMeant bounds the arguments that are proposed for one that a tool does not take, and longestMeant
// the length in bytes of a name for which any are.
const (
	maxMeant     = 3
	longestMeant = 64
)

// unknown refuses an argument that the tool does not take. It says which one may be meant, and
// which ones there are.
func unknown(t *tool, name string) error {
	message, meant := "there is no argument "+quoted(name, 60), t.meant(name)
	if len(meant) > 0 {
		message += ": did you mean " + strings.Join(meant, " or ") + "?"
	}
	e := hub.Invalid(peertext.ModelLine(name), message).With("arguments", slices.Sorted(maps.Keys(t.form().input.Properties)))
	if len(meant) > 0 {
		e = e.With("meant", meant)
	}
	return e
}

// meant returns the arguments of the tool that a name may stand for: the one that is spelled alike,
// else the one that other programs call so, else those that share a whole part with it, else
// the one that is a slip of the hand away.
func (t *tool) meant(name string) []string {
	parts := partsOf(name)
	if len(name) > longestMeant || len(parts) == 0 {
		return nil
	}
	known := slices.Sorted(maps.Keys(t.form().input.Properties))
	for _, of := range slices.Sorted(maps.Keys(silent())) {
		if t.property(of) != nil {
			known = append(known, of)
		}
	}
	for _, of := range known {
		if strings.ReplaceAll(of, "_", "") == strings.Join(parts, "") {
			return []string{of}
		}
	}
	for _, of := range otherNames()[strings.Join(parts, "_")] {
		if slices.Contains(known, of) {
			return []string{of}
		}
	}
	var sharing []string
	for _, of := range known {
		if own := strings.Split(of, "_"); own[0] == parts[0] || ends(own, parts) || ends(parts, own) {
			sharing = append(sharing, of)
		}
	}
	if len(sharing) > 0 {
		return sharing[:min(len(sharing), maxMeant)]
	}
	if of := near.Name(strings.Join(parts, "_"), known); of != "" {
		return []string{of}
	}
	return nil
}

// ends reports whether the last parts of a name are those of another.
func ends(name, other []string) bool {
	return len(name) > len(other) && slices.Equal(name[len(name)-len(other):], other)
}

// partsOf cuts a name into its words in lower case: roomId, room-id and ROOM ID are room and id.
func partsOf(name string) []string {
	var cut strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			cut.WriteByte(' ')
		}
		before = r
		cut.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(cut.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
