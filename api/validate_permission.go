package api

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// ValidatePermissionPolicy checks a new policy for permission prompts.
func ValidatePermissionPolicy(in *hub.PermissionPolicyInput) error {
	switch n := len(in.Rules); {
	case in.Version < 0:
		return hub.Invalid("version", "version must be that of GET /v1/permissions")
	case in.AnswerSec < 0 || in.AnswerSec > hub.MaxPermissionWaitSec:
		return hub.Invalid("answer_sec", "answer_sec must be from 1 to 60").With("limit", hub.MaxPermissionWaitSec)
	case n > hub.MaxPermissionRules:
		return hub.Invalid("rules", "there are too many rules").With("limit", hub.MaxPermissionRules).With("size", n)
	}
	for i := range in.Rules {
		if err := CheckPermissionRule(&in.Rules[i]); err != nil {
			return err
		}
	}
	return nil
}

// CheckPermissionRule checks one rule.
func CheckPermissionRule(r *hub.PermissionRule) error {
	if err := hub.CheckName("tool", r.Tool, hub.MaxNameChars); err != nil {
		return err
	}
	switch {
	case r.Decision != hub.PermissionAllow && r.Decision != hub.PermissionDeny:
		return hub.Invalid("decision", "a rule decides allow or deny")
	case len(r.Words) > 0 && r.Path != "":
		return hub.Invalid("path", "a rule has words or a path, and this one has both").WithFix("make two rules of it")
	case len(r.Words) > hub.MaxPermissionWords:
		return hub.Invalid("words", "a rule has too many words").With("limit", hub.MaxPermissionWords)
	case r.Path != "" && (!isAbsolute(r.Path) || utf8.RuneCountInString(r.Path) > hub.MaxFilePathChars):
		return hub.Invalid("path", "path is not an absolute path").WithFix("give the whole path, without . and .. in it")
	}
	for _, w := range r.Words {
		if err := hub.CheckName("words", w, hub.MaxPermissionWordChars); err != nil {
			return err
		}
	}
	return nil
}

// isAbsolute reports whether a path is absolute and clean. It may be one of another system.
func isAbsolute(p string) bool {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p) == p
	}
	return filepath.IsAbs(p) && filepath.Clean(p) == p
}

// ValidatePermission checks a permission prompt.
func ValidatePermission(in *hub.PermissionInput) error {
	if err := first(
		hub.CheckSender("agent_id", in.AgentID),
		checkBounds(in)); err != nil {
		return err
	}
	if n := len(in.Files); n > hub.MaxPermissionFiles {
		return hub.Invalid("files", "there are too many files").With("limit", hub.MaxPermissionFiles).With("size", n)
	}
	if in.Nonce != "" {
		if err := CheckNonce("nonce", in.Nonce); err != nil {
			return err
		}
	}
	for _, file := range in.Files {
		if err := checkText("files", file, hub.MaxFilePathChars); err != nil {
			return err
		}
	}
	if in.Command != nil {
		return checkText("command", *in.Command, hub.MaxPermissionCommand)
	}
	return nil
}

// ValidatePermissionWait checks how long a hook waits.
func ValidatePermissionWait(in *hub.PermissionWaitInput) error {
	if in.Nonce != "" {
		if err := CheckNonce("nonce", in.Nonce); err != nil {
			return err
		}
	}
	return first(hub.CheckSender("agent_id", in.AgentID), checkWait(in.WaitSec))
}
