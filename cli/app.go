package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/agent"
	"hubcli/cli/doctor"
	"hubcli/cli/machine"
	"hubcli/cli/opt"
	"hubcli/cli/person"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/overview"
)

func newApp(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "Manage the application daemon",
		Long: `Manage the hub of this machine: the daemon that keeps its store in the data
root and runs in the background. The lists show a person what is in it; they register
nobody and mark nothing as seen.

Many have short names: "hubcli agents" is "hubcli app agents", and the same holds for
log, tasks, claims, locks, runs, search, channels, threads, memory, decisions, spawns,
logs, config, ask, inbox, answer, say, task, claim, lock and top. "hubcli status" is
"hubcli app overview".`,
		Example: `  hubcli app start
  hubcli app status
  hubcli app overview
  hubcli app top
  hubcli app open
  hubcli app demo
  hubcli app inbox
  hubcli app agents --watch
  hubcli app log --since 1h
  hubcli app debug
  hubcli app receipt 12 --agent lead
  hubcli app undelivered
  hubcli app doctor
  hubcli app backup hub.backup
  hubcli app permissions on
  hubcli app users list
  hubcli app say --room checkout "stop at noon"
  hubcli app claim parser --agent dev-a
  hubcli app clear rooms --by looper
  hubcli app stop`,
	}
	return opt.Group(cmd, append([]*cobra.Command{
		newAppStart(env), newAppStatus(env), person.NewOverview(env, "overview"), newTop(env), machine.NewDebug(env), person.NewReceipt(env), person.NewUndelivered(env), person.NewAttention(env),
		machine.NewDoctor(env), machine.NewBackup(env), machine.NewRestore(env), newService(env), person.NewNotify(env), person.NewUsers(env), machine.NewOpen(env), newDemo(env), person.NewPermissions(env), person.NewPause(env), person.NewResume(env), person.NewPauses(env), person.NewMute(env), person.NewUnmute(env), person.NewMutes(env), person.NewBudget(env), person.NewBudgets(env), agent.NewMessage(env),
		person.NewRelease(env), person.NewEnd(env), person.NewRetire(env), person.NewClear(env), person.NewArchive(env), person.NewUnarchive(env), newAppStop(env),
	}, forPeople(env)...)...)
}

func newAppStart(env *term.Env) *cobra.Command {
	o := machine.StartOptions{Timeout: 60 * time.Second}
	o.LimitFlags.Limits = hub.DefaultLimits()
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start the hub of this machine in the background",
		Long: `Start the hub against the store app.db in the data root, in the background, and
return once it answers. If it already runs, nothing happens.

It logs to hub.log in its store. To choose another store use "hubcli ensure".`,
		Example: `  hubcli app start
  hubcli app start --port 7001 --quiet`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return machine.RunEnsure(cmd.Context(), env, cmd, &o)
		},
	}
	f := cmd.Flags()
	o.AddressFlags.Add(env, f, 1)
	f.BoolVar(&o.AllowRemote, "allow-remote", false, "let --host name an address that other machines reach")
	f.BoolVar(&o.Quiet, "quiet", false, "print nothing, and log warnings and errors only")
	o.Spool.Add(f)
	opt.AddAdopt(f, &o.Adopt)
	opt.AddNoAutoRooms(f, &o.NoAutoRooms)
	f.BoolVar(&o.AutoEnsureAdapters, "auto-ensure-adapters", false, "install or repair detected harness adapters during startup")
	return cmd
}

func newAppStop(env *term.Env) *cobra.Command {
	cmd := machine.NewStop(env)
	cmd.Short = "Stop the running hub; the same as hubcli stop"
	cmd.Example = `  hubcli app stop
  hubcli app stop --port 7001`
	return cmd
}

func newAppStatus(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the running hub is doing",
		Long: `Show version, store, address, counts and the health of the journal of the hub
that answers at the address. It also says where the address comes from, and which
agent HUB_AGENT names, if it is set.`,
		Example: `  hubcli app status
  hubcli app status --json --base-url http://127.0.0.1:7001`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAppStatus(cmd.Context(), env, &o.BaseURL, o.json)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func runAppStatus(ctx context.Context, env *term.Env, base *opt.BaseURL, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.AppStatus(ctx)
	if err != nil {
		return err
	}
	opt.NoteUnproved(env, c)
	if asJSON {
		return term.PrintJSON(env.Stdout, s)
	}
	return printStatus(env.Stdout, s, base.Source(), env.Getenv(hook.EnvAgent))
}

// printStatus writes the page. from is where the address comes from, agent the one that
// the environment names.
func printStatus(w io.Writer, s hub.AppStatus, from, agent string) error {
	up := time.Duration(s.UptimeSec * float64(time.Second)).Round(time.Second)
	rows := [][2]string{
		{"version", s.Version},
		{"instance", string(s.InstanceID)},
		{"process", fmt.Sprintf("%d, up %s", s.PID, up)},
		{"address", s.ListenAddress},
		{"address from", from},
		{"store", s.StoragePath},
		{"journal", fmt.Sprintf("%s, record %d, last sync %.1f ms, %d MiB free", s.Journal.State, s.Journal.Head, s.Journal.LastSyncMS, s.Journal.FreeBytes>>20)},
		{"sessions", fmt.Sprint(s.Counts.Sessions)},
		{"channels", fmt.Sprint(s.Counts.Channels)},
		{"messages", fmt.Sprint(s.Counts.Messages)},
		{"search", searchState(s.Search)},
		{"open tasks", fmt.Sprint(s.Counts.OpenTasks)},
		{"leases", fmt.Sprint(s.Counts.Leases)},
		{"parked polls", fmt.Sprint(s.Counts.ParkedPolls)},
		{"spawns", fmt.Sprint(s.Counts.Spawns)},
		{"adapters", term.OrNone(strings.Join(s.Adapters, ", "))},
	}
	if agent != "" {
		rows = slices.Insert(rows, 5, [2]string{"agent", agent + ", from " + hook.EnvAgent})
	}
	for _, a := range s.Asleep {
		rows = append(rows, [2]string{"asleep", fmt.Sprintf("%s, %d unread directed, since %s", a.AgentID, a.Unread, a.Since)})
	}
	for i := range s.Paused {
		rows = append(rows, [2]string{"paused", fmt.Sprintf("%s, since %s: %s", s.Paused[i].Target(), s.Paused[i].Since, s.Paused[i].Words)})
	}
	for i := range s.Muted {
		rows = append(rows, [2]string{"muted", s.Muted[i].Target().String() + ", " + s.Muted[i].Period()})
	}
	for i := range s.Users.Allowed {
		rows = append(rows, [2]string{"user let in", s.Users.Allowed[i].Name + ", since " + s.Users.Allowed[i].AllowedAt.String()})
	}
	if s.Users.Told == "" && s.Users.Why != "" {
		rows = append(rows, [2]string{"users", "this system does not tell whose a call is, so the hub takes the calls of all users: " + s.Users.Why})
	}
	if s.Salvaged != nil {
		rows = append(rows, [2]string{"salvaged", fmt.Sprintf("%s, from %s: %s; see its file SALVAGED", s.Salvaged.Made, s.Salvaged.From, doctor.Missing(s.Salvaged))})
	}
	for _, q := range s.Quarantined {
		rows = append(rows, [2]string{"quarantined", fmt.Sprintf("%s at record %d: %s", q.Owner, q.Seq, q.Reason)})
	}
	return term.PrintRows(w, rows)
}

// searchState says what a search sees of the rows.
func searchState(s hub.SearchStatus) string {
	if !s.Open {
		return "not available"
	}
	if lag := overview.SearchLag(s); lag != "" {
		return lag
	}
	return fmt.Sprintf("%d rows", s.Documents)
}
