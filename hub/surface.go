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
	Surface Surface `json:"surface"`
}

// ToolSurfaces keeps the settings (SPEC section 4.1, GET /v1/tool-surface).
type ToolSurfaces interface {
	// ToolSurfaces lists the settings; of one harness, if it is named.
	ToolSurfaces(ctx context.Context, harness Harness) ([]ToolSurface, error)
	// SetToolSurface changes one. Operator only.
	SetToolSurface(ctx context.Context, in ToolSurfaceInput) (Outcome[ToolSurface], error)
}
