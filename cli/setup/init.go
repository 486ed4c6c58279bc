package setup

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/adapter"
	"hubcli/cli/machine"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/homeroom"
)

type initOptions struct {
	adapter.AdapterChange // baseURL, yes and json; the adapters are those of the user
	wish                  homeroom.Wish
	path                  string
	here                  bool
	noAdapters            bool
	preview               bool
}

// NewInit makes the command init.
func NewInit(env *term.Env) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [path]",
		Short: "Make a room for a repository, and set the hub up in its harnesses",
		Long: `Make everything that agents need to work together in a Git repository: start a hub
if none runs, make a project and a room of the repository's name, and bind the top
folder to the room. All work trees of the repository share the room, and so do
clones of the same remote. Then the hub is set up in the harnesses of your PATH:
what would be written is shown, and you are asked once.

Run it again at any time: it says what is there already, and makes what is missing.
If another repository has the name, this one gets a number behind it. A submodule
belongs to the repository around it. Outside of a repository --here takes the
folder itself. No room is made for the root of the file system, a home folder or a
temporary folder: too many agents would be in it, or it will be gone.

With --preview nothing is made, written or started.`,
		Example: `  hubcli init
  hubcli init --preview
  hubcli init --yes --room checkout
  hubcli init --here --no-adapters`,
		Args: opt.Between(0, "path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			return runInit(cmd.Context(), env, cmd, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.wish.Project, "project", "", "`project` of the room, by its id, slug or name; made if it is not there (default one of the repository's name)")
	f.StringVar(&o.wish.Room, "room", "", "`room`, by its id, slug, name or project/slug; made if it is not there (default one of the repository's name)")
	f.BoolVar(&o.here, "here", false, "take the folder itself, whether it is in a repository or not")
	f.BoolVar(&o.noAdapters, "no-adapters", false, "make the room alone, and set the hub up in no harness")
	f.BoolVar(&o.preview, "preview", false, "show what would be made and written, and do nothing")
	f.BoolVarP(&o.Yes, "yes", "y", false, "write without a question")
	o.PermissionFlag(cmd)
	f.BoolVar(&o.JSON, "json", false, "print the answer as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// check checks what can be checked without the hub.
func (o *initOptions) check(cmd *cobra.Command, args []string) (err error) {
	if err := o.BaseURL.Check(); err != nil {
		return err
	}
	if o.path, err = opt.PathArgument(args); err != nil {
		return err
	}
	for _, name := range []string{"project", "room"} {
		if cmd.Flags().Changed(name) && cmd.Flags().Lookup(name).Value.String() == "" {
			return term.Usage("leave it out for the repository's name", "--%s cannot be empty", name)
		}
	}
	switch {
	case o.preview && o.JSON:
		return term.Usage("leave one of them out", "--preview shows a plan to a person, and --json is for programs")
	case o.noAdapters && (o.NoPermissions || cmd.Flags().Changed("plugin")):
		return term.Usage("leave --no-adapters out, or the other flag", "--no-permissions and --plugin are about adapters, and --no-adapters wants none")
	}
	return nil
}

// folder finds the folder that is meant.
func (o *initOptions) folder(env *term.Env) (homeroom.Folder, error) {
	wide := homeroom.WideOf(env.Getenv)
	find := homeroom.Find
	if o.here {
		find = homeroom.Here
	}
	f, err := find(o.path, wide)
	return f, asFailure(err)
}

// asFailure gives a refusal of a folder its exit code.
func asFailure(err error) error {
	var r *homeroom.Refusal
	if errors.As(err, &r) {
		return term.Usage(r.Fix, "%s", r.Why)
	}
	return err
}

// initiated is the answer of init.
type initiated struct {
	BaseURL     string        `json:"base_url"`
	Started     bool          `json:"started"` // the hub, by this call
	Folder      string        `json:"folder"`  // that is bound
	BoundPath   string        `json:"bound_path"`
	Project     hub.Project   `json:"project"`
	Room        hub.Room      `json:"room"`
	MadeProject bool          `json:"made_project"`
	MadeRoom    bool          `json:"made_room"`
	MadeBinding bool          `json:"made_binding"`
	Note        string        `json:"note,omitempty"`
	Adapters    []initAdapter `json:"adapters"` // of the harnesses that were found
}

// runInit looks at everything first, so that a question or a refusal comes before the first change.
func runInit(ctx context.Context, env *term.Env, cmd *cobra.Command, o *initOptions) error {
	f, err := o.folder(env)
	if err != nil {
		return err
	}
	said := initiated{Folder: f.Top, Adapters: []initAdapter{}}
	if !o.preview {
		got, err := machine.EnsureAt(ctx, &o.BaseURL, env, cmd)
		if err != nil {
			return err
		}
		said.Started = got.PID != 0
	}
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	said.BaseURL = c.BaseURL()
	if !o.preview && !o.JSON { // told before a question or a refusal: the hub stays
		if err := printLines(env.Stdout, said.hub()); err != nil {
			return err
		}
	}
	plan, err := homeroom.Look(ctx, c, f, o.wish)
	if o.preview {
		return o.show(ctx, env, c, &plan, err)
	}
	if err != nil {
		return asFailure(err)
	}
	offered, err := o.adapters(ctx, env, c, &said)
	if err != nil {
		return err
	}
	var refused error
	if len(offered) > 0 {
		if refused, err = o.install(ctx, env, c, &plan, &said, offered); err != nil {
			return err
		}
	}
	plan, made, err := homeroom.Make(ctx, c, f, o.wish)
	if err != nil {
		return asFailure(err)
	}
	said.Project, said.Room, said.BoundPath, said.Note = *plan.Project, *plan.Room, plan.At, plan.Note
	said.MadeProject, said.MadeRoom, said.MadeBinding = made.Project, made.Room, made.Binding
	if o.JSON {
		err = term.PrintJSON(env.Stdout, said)
	} else {
		err = said.print(env)
	}
	return errors.Join(err, refused)
}

// show prints what would be done. Without a hub only the folder is known.
func (o *initOptions) show(ctx context.Context, env *term.Env, c *client.Client, plan *homeroom.Plan, err error) error {
	if err != nil && term.ExitOf(err) == term.ExitUnreachable {
		if _, ours := opt.Startable(o.URL); !ours {
			return err
		}
		return printLines(env.Stdout, "no hub runs at "+o.URL+": one would be started",
			"it would have project "+plan.Folder.Name+" with room "+plan.Folder.Name+", if nobody has taken the names",
			plan.Folder.Top+" would be bound to the room")
	}
	if err != nil {
		return asFailure(err)
	}
	if err := printLines(env.Stdout, planned(plan)...); err != nil {
		return err
	}
	var said initiated
	offered, err := o.adapters(ctx, env, c, &said)
	if err != nil {
		return err
	}
	for _, a := range said.Adapters {
		if a.State != adapterOffered {
			if err := printLines(env.Stdout, a.line()); err != nil {
				return err
			}
		}
	}
	for _, t := range offered {
		plan, err := c.PreviewAdapter(ctx, t.Harness, hub.AdapterInstall, t.In)
		if err == nil {
			err = adapter.PrintPlan(env, plan)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
