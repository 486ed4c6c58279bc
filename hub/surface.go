package hub

import "context"

// Surface says which tools an MCP bridge shows its harness. Hidden tools stay
// callable by name, through hub_call_tool.
//
// API: How many tools a harness is shown; the others stay callable by name.
type Surface string

// The surfaces.
const (
	SurfaceFull        Surface = "full"        // all tools
	SurfaceProgressive Surface = "progressive" // the tools that every turn needs, and the tools that find and call all others
)

// DefaultSurface returns the surface of a harness that has no setting. Most
// harnesses get all tools: calling a hidden tool takes a model an extra step,
// and Claude Code searches long lists of tools by itself. Some harnesses count
// the tools of all their servers and cut or refuse long lists. They get the
// progressive surface, so that the hub's tools do not displace those of other
// servers.
func DefaultSurface(h Harness) Surface {
	if s := h.Facts().Surface; s != "" {
		return s
	}
	return SurfaceFull
}

// ToolSurface is the setting of one harness.
type ToolSurface struct {
	Harness Harness `json:"harness"`
	Surface Surface `json:"surface"`
	Default bool    `json:"default"` // Nobody has chosen it.
}

// ToolSurfaceInput sets the surface of a harness. An empty Surface restores the
// default.
type ToolSurfaceInput struct {
	Harness Harness `json:"harness" bounds:"1..64 runes"`        // A harness, by its name or another name of it.
	Surface Surface `json:"surface,omitempty" bounds:"or empty"` // Left out: the default of the harness.
}

// ToolSurfaces keeps the settings (SPEC section 4.1, GET /v1/tool-surface).
type ToolSurfaces interface {
	// ToolSurfaces lists the settings of all harnesses, or of the named one.
	ToolSurfaces(ctx context.Context, harness Harness) ([]ToolSurface, error)
	// SetToolSurface changes a setting. Operator only.
	SetToolSurface(ctx context.Context, in ToolSurfaceInput) (Outcome[ToolSurface], error)
}
