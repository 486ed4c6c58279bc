package hub

import "context"

// Surface is how many tools an MCP bridge shows its harness. The others stay
// callable through the tool that calls by name.
type Surface string

// The surfaces.
const (
	SurfaceFull        Surface = "full"        // all tools
	SurfaceProgressive Surface = "progressive" // those that find and call the others, and what every turn needs
)

// DefaultSurface is the surface of a harness that nobody has chosen one for. Most
// get all tools: a model calls a tool that its harness hides only by a detour, and
// Claude Code searches long lists of tools by itself. Harnesses that cut or refuse
// long lists, over all their servers together, get the progressive surface, so that
// the hub's tools do not displace those of others.
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
	Default bool    `json:"default"` // nobody has set it
}

// ToolSurfaceInput sets the surface of a harness; an empty one gives it back its
// default.
type ToolSurfaceInput struct {
	Harness Harness `json:"harness"`
	Surface Surface `json:"surface,omitempty"`
}

// ToolSurfaces keeps the settings (SPEC section 4.1, GET /v1/tool-surface).
type ToolSurfaces interface {
	// ToolSurfaces lists the settings; of one harness, if it is named.
	ToolSurfaces(ctx context.Context, harness Harness) ([]ToolSurface, error)
	// SetToolSurface changes one. Operator only.
	SetToolSurface(ctx context.Context, in ToolSurfaceInput) (Outcome[ToolSurface], error)
}
