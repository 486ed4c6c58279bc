package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// asked are the functions by which a rule of every write is asked, or a stored answer is looked up,
// with the packages that may call them besides the gate.
var asked = map[string][]string{
	"RefusePaused":  nil,
	"RefuseClosed":  nil,
	"ErrArchived":   {"actors/core", "actors/view"},
	"ReserveEffect": {"actors/engine"},
	"ReserveKey":    nil,
}

// TestRulesAreAskedAtTheGate: a rule that holds for every write is asked in one package. A write that
// asks it by itself would be a second home of the rule, and the next write would forget it.
func TestRulesAreAskedAtTheGate(t *testing.T) {
	met := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch fun := ast.Unparen(call.Fun).(type) {
			case *ast.Ident:
				name = fun.Name
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			}
			may, rule := asked[name]
			switch {
			case !rule:
			case f.dir == "actors/gate":
				met[name] = true
			case !slices.Contains(may, f.dir):
				t.Errorf("%s calls %s: let the gate ask it, by a row of its table", f.path, name)
			}
			return true
		})
	}
	for name := range asked {
		if !met[name] && name != "ReserveEffect" {
			t.Errorf("the gate does not call %s", name)
		}
	}
}

// own are the files whose commands go to the engine without the gate: the hub decides them by itself,
// or they are a step of a write that has passed the gate.
var own = map[string]string{
	"actors/adopt.go":            "a start drops what the maker of the store had set",
	"actors/left.go":             "the hub notes that an assignee has gone",
	"actors/presence.go":         "the hub notes that an agent has gone, or is back",
	"actors/stuck.go":            "the hub tells of an agent whose model failed",
	"actors/suggest.go":          "the hub tells of a free task",
	"actors/service_invites.go":  "invites expire",
	"actors/service_join.go":     "a step of the write acceptInvite",
	"actors/asks/asks.go":        "the hub asks about a loop, and withdraws prompts",
	"actors/asks/deadline.go":    "questions expire",
	"actors/asleep/look.go":      "the hub tells of agents that sleep",
	"actors/guard/tend.go":       "the hub tells agents that they make no progress",
	"actors/leases/handover.go":  "leases follow their task",
	"actors/spawns/supervise.go": "what becomes of a process",
	"actors/watch/sessions.go":   "the session of a watch ends",
	"actors/watch/watch.go":      "the hub tells of a watch",
	"actors/gate/gate.go":        "the gate itself",
	"actors/engine/command.go":   "the engine itself",
}

// TestWritesGoThroughTheGate: no other file sends a command to the engine.
func TestWritesGoThroughTheGate(t *testing.T) {
	met := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test || !strings.HasPrefix(f.dir, "actors") && f.dir != "capsule/transfer" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || selector.Sel.Name != "Submit" && selector.Sel.Name != "Admit" {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); !ok || of.Name != "engine" {
				return true
			}
			met[f.path] = true
			if own[f.path] == "" {
				t.Errorf("%s sends a command to the engine: a write goes through the gate", f.path)
			}
			return true
		})
	}
	for path := range own {
		if !met[path] && path != "actors/engine/command.go" {
			t.Errorf("%s sends no command to the engine: take its line out", path)
		}
	}
}
