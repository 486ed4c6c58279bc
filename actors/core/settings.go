package core

import (
	"fmt"

	"hubcli/hub"
)

// The facts of the settings: 800 to 819.
const factToolSurfaceSet FactType = 800

func settingsFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factToolSurfaceSet: func() Fact { return &ToolSurfaceSet{} },
	}
}

// Settings decides the operator's choices for the hub as a whole.
type Settings struct {
	surfaces map[hub.Harness]hub.Surface // only harnesses for which the operator has chosen one
}

// ToolSurfaceSet sets the surface of a harness. An empty surface restores the
// default.
type ToolSurfaceSet struct {
	Harness hub.Harness `json:"harness"`
	Surface hub.Surface `json:"surface,omitempty"`
}

// FactType implements Fact.
func (*ToolSurfaceSet) FactType() FactType { return factToolSurfaceSet }

// NewSettings returns the settings of a hub whose operator has chosen nothing.
func NewSettings() *Settings { return &Settings{surfaces: map[hub.Harness]hub.Surface{}} }

// RestoreSurface adds a stored choice to a state that is being loaded.
func (s *Settings) RestoreSurface(h hub.Harness, surface hub.Surface) {
	if surface != "" {
		s.surfaces[h] = surface
	}
}

// SetToolSurface decides the surface of a harness. Setting the current value
// has no effect.
func (s *Settings) SetToolSurface(in hub.ToolSurfaceInput) Decision[hub.ToolSurface] {
	row := SurfaceOf(in.Harness, in.Surface)
	d := Decision[hub.ToolSurface]{Answer: func(Position) hub.ToolSurface { return row }}
	if s.surfaces[in.Harness] != in.Surface {
		d.Facts = []Fact{&ToolSurfaceSet{Harness: in.Harness, Surface: in.Surface}}
	}
	return d
}

// SurfaceOf is the setting of a harness for which this surface was chosen;
// empty if none was.
func SurfaceOf(h hub.Harness, chosen hub.Surface) hub.ToolSurface {
	if chosen == "" {
		return hub.ToolSurface{Harness: h, Surface: hub.DefaultSurface(h), Default: true}
	}
	return hub.ToolSurface{Harness: h, Surface: chosen}
}

// Apply changes the state by one fact. Applying a fact twice has the same
// effect as once.
func (s *Settings) Apply(f Fact, _ Position, rows RowSink) {
	set, ok := f.(*ToolSurfaceSet)
	if !ok {
		panic(fmt.Sprintf("core: the settings were given the fact %T", f))
	}
	delete(s.surfaces, set.Harness)
	s.RestoreSurface(set.Harness, set.Surface)
	rows.Put(TableToolSurface, []byte(set.Harness), []byte(set.Surface))
}
