package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"hubcli/api/client"
	"hubcli/cli/adapter"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/homeroom"
	"hubcli/internal/peertext"
)

// initAdapter says how the hub is set up in one harness that was found.
type initAdapter struct {
	Harness hub.Harness `json:"harness"`
	State   string      `json:"state"` // there, outdated, changed, offered, installed or refused
}

// What becomes of an adapter.
const (
	adapterThere    = "there"     // it is installed
	adapterOutdated = "outdated"  // it is, and repair would write a newer one
	adapterChanged  = "changed"   // somebody has changed its entry, or the entry is not the hub's
	adapterOffered  = "offered"   // it would be installed
	adapterInstall  = "installed" // by this call
	adapterRefused  = "refused"   // the hub left it as it is
)

func (a *initAdapter) line() string {
	name := string(a.Harness)
	switch a.State {
	case adapterThere:
		return name + ": set up already"
	case adapterOutdated:
		return name + ": set up already; a newer form is written by: hubcli adapter repair " + name
	case adapterChanged:
		return name + ": left as it is, since its files are not as the hub wrote them; see: hubcli adapter status " + name
	case adapterRefused:
		return name + ": left as it is; see: hubcli adapter status " + name
	}
	return name + ": " + a.State
}

// adapters notes how the hub is set up in the harnesses of the caller's PATH, and returns those in
// which it is not.
func (o *initOptions) adapters(ctx context.Context, env *term.Env, c *client.Client, said *initiated) (offered []adapter.AdapterTarget, err error) {
	if o.noAdapters {
		return nil, nil
	}
	rows, err := c.Adapters(ctx, hub.AdapterQuery{SearchPath: opt.OwnPath(env)})
	if err != nil {
		return nil, err
	}
	in := hub.AdapterInput{Scope: hub.AdapterGlobal, NoPermissions: o.NoPermissions, Plugin: o.PluginInput()}
	for i := range rows {
		if !rows[i].Detected {
			continue
		}
		a := initAdapter{rows[i].Harness, setUp(&rows[i])}
		said.Adapters = append(said.Adapters, a)
		if a.State == adapterOffered {
			offered = append(offered, adapter.AdapterTarget{Harness: a.Harness, In: in})
		}
	}
	return offered, nil
}

// setUp says how the hub is set up in a harness for the user.
func setUp(row *hub.Adapter) string {
	state := adapterOffered
	for _, place := range row.Places {
		if place.Scope != hub.AdapterGlobal {
			continue
		}
		for _, part := range place.Parts {
			switch part.State {
			case hub.AdapterDrifted, hub.AdapterConflict, hub.AdapterUnreadable:
				return adapterChanged
			case hub.AdapterInstalled:
				if state == adapterOffered {
					state = adapterThere
				}
				if part.Outdated {
					state = adapterOutdated
				}
			case hub.AdapterAbsent, hub.AdapterUnsupported:
			}
		}
	}
	return state
}

// install shows what would be made and written, asks once, and sets the hub up. refused says which
// adapters the hub left as they are: that stops nothing.
func (o *initOptions) install(ctx context.Context, env *term.Env, c *client.Client, plan *homeroom.Plan, said *initiated, offered []adapter.AdapterTarget) (refused, err error) {
	if !o.Yes {
		if err := printLines(env.Stderr, planned(plan)...); err != nil {
			return nil, err
		}
	}
	within := *env
	if o.JSON {
		within.Stdout = io.Discard
	}
	n, err := adapter.ChangeMany(ctx, &within, c, &o.AdapterChange, hub.AdapterInstall, offered)
	if errors.Is(err, opt.ErrDeclined) {
		return nil, term.Fail(term.ExitRefused, "answer y, or add --yes; for the room alone add --no-adapters", "not confirmed; no room and no adapter was made")
	}
	var f *term.Failure
	if errors.As(err, &f) && f.Exit == term.ExitUsage { // nobody can be asked
		f.Fix = "add --yes to have that written, or --no-adapters for the room alone; hubcli init --preview shows it"
	}
	if err != nil {
		return nil, err
	}
	rows, err := c.Adapters(ctx, hub.AdapterQuery{SearchPath: opt.OwnPath(env)})
	if err != nil {
		return nil, err
	}
	said.note(rows)
	return adapter.LeftAsTheyAre(n, len(offered)), nil
}

// note says what has become of the adapters that were offered.
func (s *initiated) note(rows []hub.Adapter) {
	for i := range s.Adapters {
		a := &s.Adapters[i]
		for j := range rows {
			if a.State != adapterOffered || rows[j].Harness != a.Harness {
				continue
			}
			if a.State = adapterRefused; setUp(&rows[j]) != adapterOffered {
				a.State = adapterInstall
			}
		}
	}
}

// planned says what would become of the room.
func planned(p *homeroom.Plan) []string {
	var lines []string
	if p.Note != "" {
		lines = append(lines, p.Note)
	}
	room := p.ProjectName() + "/" + p.RoomName()
	switch {
	case p.Bound:
		return append(lines, p.Folder.Top+" is bound to room "+room+" already"+through(p.Folder.Top, p.At))
	case p.Project == nil:
		lines = append(lines, "project "+p.ProjectName()+" would be made, with room "+p.RoomName())
	case p.Room == nil:
		lines = append(lines, "room "+room+" would be made")
	}
	return append(lines, p.Folder.Top+" would be bound to room "+room)
}

// through says by which other folder a folder is bound; empty: by itself.
func through(folder, at string) string {
	if folder == at {
		return ""
	}
	return ", through " + at
}

// hub says which hub it is.
func (s *initiated) hub() string {
	if s.Started {
		return "hub started at " + s.BaseURL
	}
	return "hub already runs at " + s.BaseURL
}

// print says what there is now, and what a person types next.
func (s *initiated) print(env *term.Env) error {
	var lines []string
	if s.Note != "" {
		lines = append(lines, s.Note+", so this one is "+s.Project.Slug)
	}
	if s.MadeProject {
		lines = append(lines, fmt.Sprintf("made project %s %s", s.Project.ProjectID, s.Project.Slug))
	}
	room := fmt.Sprintf("%s %s/%s", s.Room.RoomID, s.Project.Slug, s.Room.Slug)
	if s.MadeRoom {
		lines = append(lines, "made room "+room)
	}
	if s.MadeBinding {
		lines = append(lines, "bound "+s.Folder+" to room "+room)
	} else {
		lines = append(lines, s.Folder+" is bound to room "+room+" already"+through(s.Folder, s.BoundPath))
	}
	for i := range s.Adapters {
		if s.Adapters[i].State != adapterInstall { // that has been told
			lines = append(lines, s.Adapters[i].line())
		}
	}
	return printLines(env.Stdout, append(lines, s.next()...)...)
}

// next is what a person types now.
func (s *initiated) next() []string {
	var names []string
	for _, a := range s.Adapters {
		if a.State == adapterThere || a.State == adapterInstall || a.State == adapterOutdated {
			names = append(names, string(a.Harness))
		}
	}
	if len(names) == 0 {
		return []string{"next: set the hub up in the program in which your agents run: hubcli adapter list shows those that the hub knows"}
	}
	second := names[0]
	if len(names) > 1 {
		second = names[1]
	}
	return []string{
		"next: begin two agents in two terminals of this folder: hubcli run " + names[0] + " --as lead, and hubcli run " + second + " --as dev",
		"      hubcli status shows what they do, hubcli inbox what they ask you",
	}
}

// printLines prints lines that may hold names of folders and of others.
func printLines(w io.Writer, lines ...string) error {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(peertext.TerminalLine(line) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
