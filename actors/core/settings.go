package core

import (
	"fmt"

	"hubcli/hub"
)

// The facts of the settings: 800 to 819.
const (
	factToolSurfaceSet FactType = 800
	factNotifySet      FactType = 801
	factPassIssued     FactType = 802
	factPassEnded      FactType = 803
	factUserAllowed    FactType = 804
	factUserRefused    FactType = 805
)

func settingsFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factToolSurfaceSet: func() Fact { return &ToolSurfaceSet{} },
		factNotifySet:      func() Fact { return &NotifySet{} },
		factPassIssued:     func() Fact { return &PassIssued{} },
		factPassEnded:      func() Fact { return &PassEnded{} },
		factUserAllowed:    func() Fact { return &UserAllowed{} },
		factUserRefused:    func() Fact { return &UserRefused{} },
	}
}

// Settings decides the operator's choices for the hub as a whole.
type Settings struct {
	surfaces map[hub.Harness]hub.Surface // only harnesses for which the operator has chosen one
	notify   hub.Notify
	Passes   Rulings[hub.PassID, hub.Pass]    // in force, and those whose time is over and that were not cleared away
	Users    Rulings[string, hub.AllowedUser] // other users of the machine who are let in
}

// ToolSurfaceSet sets the surface of a harness. An empty surface restores the
// default.
type ToolSurfaceSet struct {
	Harness hub.Harness `json:"harness"`
	Surface hub.Surface `json:"surface,omitempty"`
}

// NotifySet says how the operator is told of questions from now on.
type NotifySet struct {
	Notify hub.Notify `json:"notify"`
}

// FactType implements Fact.
func (*NotifySet) FactType() FactType { return factNotifySet }

// FactType implements Fact.
func (*ToolSurfaceSet) FactType() FactType { return factToolSurfaceSet }

// NewSettings returns the settings of a hub whose operator has chosen nothing.
func NewSettings() *Settings {
	return &Settings{surfaces: map[hub.Harness]hub.Surface{}, notify: NoNotify(), Passes: PassKind.None(), Users: UserKind.None()}
}

// NoNotify is the setting of a hub whose operator is told of nothing.
func NoNotify() hub.Notify { return hub.Notify{Command: []string{}} }

// NotifyKey is the key of the one row of TableNotify.
func NotifyKey() []byte { return []byte("notify") }

// RestoreNotify adds a stored setting to a state that is being loaded.
func (s *Settings) RestoreNotify(to hub.Notify) { s.notify = to }

// SetNotify decides how the operator is told of questions. Error: version_conflict.
func (s *Settings) SetNotify(in hub.NotifyInput) (Decision[hub.Notify], error) {
	if in.Version != s.notify.Version {
		return Decision[hub.Notify]{}, hub.NewError(hub.CodeVersionConflict, "the setting has changed since it was read").
			With("version", s.notify.Version).WithFix("read it, change that, and send it with its version")
	}
	to := hub.Notify{Command: append([]string{}, in.Command...), Webhook: in.Webhook, Remote: in.Remote, Version: in.Version + 1}
	return answering(to, &NotifySet{Notify: to}), nil
}

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
	d := answering(row)
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
func (s *Settings) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *ToolSurfaceSet:
		delete(s.surfaces, f.Harness)
		s.RestoreSurface(f.Harness, f.Surface)
		rows.Put(TableToolSurface, []byte(f.Harness), []byte(f.Surface))
	case *NotifySet:
		s.notify = f.Notify
		rows.Put(TableNotify, NotifyKey(), mustJSON(f.Notify))
	case *PassIssued, *PassEnded:
		s.applyPass(f, at, rows)
	case *UserAllowed, *UserRefused:
		s.applyUser(f, rows)
	default:
		panic(fmt.Sprintf("core: the settings were given the fact %T", f))
	}
}
