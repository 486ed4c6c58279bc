package api

import "hubcli/hub"

// ValidateHarness puts the name of a harness, or another name of it, into
// canonical form.
func ValidateHarness(field string, h *hub.Harness) error {
	if *h == "" {
		return hub.Invalid(field, field+" is missing").With("harnesses", hub.Harnesses())
	}
	known, ok := hub.ParseHarness(string(*h))
	if !ok {
		return hub.Invalid(field, "there is no such harness").With("harnesses", hub.Harnesses()).
			WithFix("use one of detail.harnesses; " + string(hub.HarnessGeneric) + " stands for any other")
	}
	*h = known
	return nil
}

// ValidateToolSurface checks a setting. An empty surface restores the harness's
// default.
func ValidateToolSurface(in *hub.ToolSurfaceInput) error {
	if err := ValidateHarness("harness", &in.Harness); err != nil {
		return err
	}
	switch in.Surface {
	case "", hub.SurfaceFull, hub.SurfaceProgressive:
		return nil
	default:
		return hub.Invalid("surface", "there is no such surface").
			WithFix("use full or progressive, or leave surface out for the harness's default")
	}
}
