package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/testfeature"
)

// TestOmittedPartsAreNotLinked: a build with the tag of a part has none of the part's packages, and each of these
// packages is in the whole program.
func TestOmittedPartsAreNotLinked(t *testing.T) {
	parts := map[string][]string{
		"browser":  {"hubcli/integrations/browser/engine", "hubcli/integrations/browser/gate", "hubcli/integrations/browser/room", "hubcli/integrations/browser/cdp"},
		"capsule":  {"hubcli/supervisor/capsules", "hubcli/capsule/transfer", "hubcli/capsule/seal", "hubcli/capsule/readable", "hubcli/capsule/mirror"},
		"license":  {"hubcli/integrations/license", "hubcli/integrations/license/keygen", "hubcli/integrations/license/machine"},
		"notify":   {"hubcli/integrations/notify"},
		"provider": {"hubcli/integrations/provider"},
		"service":  {"hubcli/integrations/service"},
	}
	linked := func(tags string) []string {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags="+tags, "./cmd/hubcli")
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list with the tags %q: %v", tags, err)
		}
		return strings.Fields(string(out))
	}
	whole := linked("")
	var all []string
	for _, feature := range testfeature.All() {
		tag := testfeature.Tag(feature)
		all = append(all, tag)
		without := linked(tag)
		if len(parts[feature]) == 0 {
			t.Errorf("no packages of %s are listed", feature)
		}
		for _, p := range parts[feature] {
			if !slices.Contains(whole, p) || slices.Contains(without, p) {
				t.Errorf("%s: in the whole program %t, with the tag %s %t", p, slices.Contains(whole, p), tag, slices.Contains(without, p))
			}
		}
	}
	least := linked(strings.Join(all, ","))
	for _, packages := range parts {
		for _, p := range packages {
			if slices.Contains(least, p) {
				t.Errorf("%s is linked with all tags", p)
			}
		}
	}
}
