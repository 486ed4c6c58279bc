package view

import "hubcli/hub"

// unspent says which passes have not run out.
func unspent(now hub.Time) func(*hub.Pass) bool {
	return func(p *hub.Pass) bool { return now < p.ExpiresAt }
}

// PassInForce reports whether the pass has neither ended nor run out.
func (v *View) PassInForce(id hub.PassID, now hub.Time) bool {
	return v.passes.first(unspent(now), id) != nil
}

// Passes lists the passes in force, the latest first.
func (v *View) Passes(now hub.Time) []hub.Pass { return v.passes.list(unspent(now)) }
