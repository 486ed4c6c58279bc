package api

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// ValidateCapsuleExport checks the plan of an export, and fills in scope and privacy. It
// does not check that the folder of the file exists.
func ValidateCapsuleExport(in *hub.CapsuleExportInput) error {
	if in.Scope == "" {
		in.Scope = hub.CapsuleKnowledge
	}
	if in.Privacy == "" {
		in.Privacy = hub.CapsuleShareSafe
	}
	switch in.Scope {
	case hub.CapsuleKnowledge, hub.CapsuleComplete, hub.CapsuleSelectedRooms:
	default:
		return hub.Invalid("scope", "there is no such scope").WithFix("use knowledge, complete or selected_rooms")
	}
	if in.Privacy != hub.CapsuleShareSafe && in.Privacy != hub.CapsuleFullHistory {
		return hub.Invalid("privacy", "there is no such privacy").WithFix("use share_safe or full_history")
	}
	if (in.Scope == hub.CapsuleSelectedRooms) != (len(in.Rooms) > 0) {
		return hub.Invalid("rooms", "rooms are named in the scope selected_rooms, and only there").
			WithFix("give rooms together with the scope selected_rooms")
	}
	if len(in.Artifacts) > hub.MaxCapsuleArtifacts {
		return hub.Invalid("artifacts", "there are too many artifacts").With("limit", hub.MaxCapsuleArtifacts).With("size", len(in.Artifacts))
	}
	for _, id := range in.Artifacts {
		if err := hub.CheckName("artifacts", string(id), hub.MaxNameChars); err != nil {
			return err
		}
	}
	return first(
		checkBounds(in),
		checkOptionalFile("sign_key", in.SignKey),
		checkFile("out", in.Out))
}

// ValidateCapsuleImport checks the plan of an import.
func ValidateCapsuleImport(in *hub.CapsuleImportInput) error {
	look := hub.CapsuleInspectInput(*in)
	return ValidateCapsuleInspect(&look)
}

// ValidateCapsuleConfirm checks the confirmation of a plan.
func ValidateCapsuleConfirm(in *hub.CapsuleConfirmInput) error {
	return checkBounds(in)
}

// ValidateCapsuleInspect checks the path of a capsule.
func ValidateCapsuleInspect(in *hub.CapsuleInspectInput) error {
	if in.Signed && len(in.Keys) == 0 {
		return hub.Invalid("keys", "a signature is asked for, and no key to check it with").WithFix("give the public key of the one who signs")
	}
	return first(
		checkAbsolute("path", in.Path),
		checkOptionalFile("identity", in.Identity),
		checkBounds(in))
}

// checkOptionalFile checks the form of an absolute path, if there is one.
func checkOptionalFile(field, path string) error {
	if path == "" {
		return nil
	}
	return checkAbsolute(field, path)
}

// checkAbsolute checks the form of an absolute path of the hub's machine.
func checkAbsolute(field, path string) error {
	if err := checkFile(field, path); err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		return hub.Invalid(field, field+" is no absolute path").WithFix("give the whole path on the machine of the hub")
	}
	return nil
}

// checkFile checks the form of a path of the hub's machine.
func checkFile(field, path string) error {
	switch {
	case path == "":
		return hub.Invalid(field, field+" is missing").WithFix("give the absolute path of a file on the hub's machine")
	case len(path) > hub.MaxPathBytes:
		return hub.Invalid(field, "the path is too long").With("limit", hub.MaxPathBytes).With("size", len(path))
	case !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return hub.Invalid(field, "the path is not valid UTF-8 text, or has a control character")
	}
	return nil
}
