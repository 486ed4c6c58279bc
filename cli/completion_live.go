package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

// A shell asks for values while its user waits. So the hub has liveWithin to answer all
// calls, liveRows bounds each of them, and a hub that is away offers nothing.
const (
	liveWithin = 300 * time.Millisecond
	liveRows   = 200
)

// asked is what a shell wants to complete.
type asked struct {
	prefix  string
	flags   *pflag.FlagSet // of the command
	command string         // its name
	before  []string       // the arguments that are typed before
	person  bool           // the environment names no agent
}

// lookup finds values at the hub.
type lookup func(context.Context, *client.Client, asked) ([]cobra.Completion, error)

// liveFlags and liveArguments are the flags and arguments whose values the hub knows.
var (
	liveFlags = sync.OnceValue(func() map[string]lookup {
		return map[string]lookup{
			"agent": liveAgents, "by": liveAgents, "assignee": liveAgents, "holder": liveAgents, "from": liveAgents, "to": liveAgents, "channel": liveChannels, "thread-id": liveThreads,
			"room": liveRooms, "project": liveProjects, "reply-to": liveTasks, "blocked-by": liveTasks, "until": liveConditions,
			"before": forPerson(liveRules), "provider": liveProviders, "connection": forPerson(liveConnections), "region": liveRegions,
		}
	})
	liveArguments = sync.OnceValue(func() map[string]lookup {
		return map[string]lookup{
			"<room>": liveRooms, "[room]": liveRooms, "<project>": liveProjects, "[artifact_id]": liveArtifacts,
			"<agent>": liveAgents, "[agent]": liveAgents, "[agent]...": forPerson(liveIdle), "<channel>": liveChannels, "<task>": forPerson(liveTasks), "<question>": forPerson(liveQuestions), "[question]": forPerson(liveQuestions),
			"[option": forPerson(liveOptions), "<spawn_id>": liveSpawns, "<number>": forPerson(liveRules), "[claim]": liveClaims, "<key>": liveClaims, "<connection>": forPerson(liveConnections),
		}
	})
)

// live completes with what find finds at the hub that the command would call. It
// registers nobody and marks nothing as seen.
func live(env *term.Env, find lookup) cobra.CompletionFunc {
	return func(cmd *cobra.Command, before []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const files = cobra.ShellCompDirectiveNoFileComp
		base := cmd.Flags().Lookup("base-url")
		if base == nil || client.CheckBaseURL(base.Value.String()) != nil {
			return nil, files
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), cmp.Or(env.LiveBudget, liveWithin))
		defer cancel()
		found := make(chan []cobra.Completion, 1)
		go func() { // a look-up of the address's name knows no limit
			c := client.New(client.Config{BaseURL: base.Value.String()})
			defer c.Close()
			values, err := find(ctx, c, asked{prefix, cmd.Flags(), cmd.Name(), before, env.Getenv(hook.EnvAgent) == ""})
			if err != nil {
				values = nil
			}
			found <- values
		}()
		select {
		case values := <-found:
			values = beginning(prefix, values)
			if len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !strings.HasSuffix(v, ":") }) {
				return values, files | cobra.ShellCompDirectiveNoSpace // the word goes on
			}
			return values, files
		case <-ctx.Done():
			return nil, files
		}
	}
}

// beginning drops the values that do not begin with prefix.
func beginning(prefix string, values []cobra.Completion) []cobra.Completion {
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, prefix) })
}

// offered returns a value with words about it. It offers nothing that a shell could take
// for more than a word, and no words that could control a terminal.
func offered(values []cobra.Completion, value, about string) []cobra.Completion {
	if !term.PlainValue.MatchString(value) {
		return values
	}
	about = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.N) || strings.ContainsRune(" .,_/#-", r) {
			return r
		}
		return ' '
	}, about)
	if words := []rune(strings.Join(strings.Fields(about), " ")); len(words) > 0 {
		return append(values, cobra.CompletionWithDesc(value, string(words[:min(len(words), 60)])))
	}
	return append(values, value)
}

// liveAgents offers the live agents, and to the command that ends a mute the muted ones.
func liveAgents(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	if q.command == "unmute" {
		mutes, err := c.Mutes(ctx)
		for i := range mutes {
			out = offered(out, string(mutes[i].AgentID), mutes[i].Reason)
		}
		return out, err
	}
	rows, _, err := c.Agents(ctx, hub.AgentsQuery{Prefix: q.prefix, Limit: liveRows})
	for i := range rows {
		name := rows[i].DisplayName
		if name == string(rows[i].AgentID) {
			name = ""
		}
		out = offered(out, string(rows[i].AgentID), name)
	}
	return out, err
}

// takesBack reports whether the command is about archived places alone.
func (q *asked) takesBack() bool { return q.command == "unarchive" }

// liveChannels offers channels. Of those that cannot be archived it offers none to the
// commands that archive.
func liveChannels(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Channels(ctx, hub.ChannelsQuery{Prefix: q.prefix, Archived: q.takesBack(), Limit: liveRows})
	for i := range rows {
		if rows[i].Archived != q.takesBack() || q.command == "archive" && !rows[i].Name.Archives() {
			continue
		}
		out = offered(out, string(rows[i].Name), "")
	}
	return out, err
}

func liveThreads(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Threads(ctx, hub.ThreadsQuery{Limit: liveRows})
	for i := range rows {
		out = offered(out, string(rows[i].ThreadID), "in "+string(rows[i].Channel))
	}
	return out, err
}

func liveProjects(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	back := q.takesBack() && len(q.before) == 0 && q.flags.Lookup("project") == nil
	rows, _, err := c.Projects(ctx, hub.ProjectsQuery{Archived: back, Limit: liveRows})
	for _, p := range rows {
		if p.Archived == back {
			out = offered(out, p.Slug, p.Name)
		}
	}
	return out, err
}

// liveRooms offers slugs, and project/slug where the slug alone is not enough or a
// project is being typed.
func liveRooms(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	project := ""
	if f := q.flags.Lookup("project"); f != nil {
		project = f.Value.String()
	}
	rooms, _, err := c.Rooms(ctx, hub.RoomsQuery{Project: project, Archived: q.takesBack(), Limit: liveRows})
	if err != nil {
		return nil, err
	}
	slugs := map[string]int{}
	for i := range rooms {
		slugs[rooms[i].Slug]++
	}
	projects, _, err := c.Projects(ctx, hub.ProjectsQuery{Limit: liveRows})
	if err != nil {
		return nil, err
	}
	of := map[hub.ProjectID]string{}
	for _, p := range projects {
		of[p.ProjectID] = p.Slug
	}
	for i := range rooms {
		r := &rooms[i]
		if q.takesBack() && (!r.Archived || of[r.ProjectID] == "") {
			continue // it comes back with its project
		}
		value, in := r.Slug, cmp.Or(of[r.ProjectID], string(r.ProjectID))
		if project == "" && (slugs[r.Slug] > 1 || strings.Contains(q.prefix, "/")) {
			value = in + "/" + r.Slug
		}
		out = offered(out, value, string(r.RoomID)+" "+r.Name+", project "+in)
	}
	return out, nil
}

// liveTasks offers open tasks, also in a list with commas. Those of direct messages are
// for their parties only.
func liveTasks(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	before := q.prefix[:strings.LastIndex(q.prefix, ",")+1]
	rows, _, err := c.Tasks(ctx, hub.TasksQuery{Active: true, Limit: liveRows})
	for i := range rows {
		out = offered(out, before+strconv.FormatInt(int64(rows[i].TaskID), 10), rows[i].Title)
	}
	return out, err
}

func liveArtifacts(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Artifacts(ctx, hub.ArtifactsQuery{Latest: true, Limit: liveRows})
	for i := range rows {
		out = offered(out, string(rows[i].ArtifactID), rows[i].Title)
	}
	return out, err
}

func liveRuns(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Runs(ctx, hub.RunsQuery{Active: true, Limit: liveRows})
	for i := range rows {
		out = offered(out, string(rows[i].RunID), rows[i].Title)
	}
	return out, err
}

// liveConditions completes --until: the word of a condition, and what follows its colon.
func liveConditions(ctx context.Context, c *client.Client, q asked) ([]cobra.Completion, error) {
	word, typed, ok := strings.Cut(q.prefix, ":")
	if !ok {
		out := []cobra.Completion{string(hub.UntilForMe), string(hub.UntilTaskReady)}
		for _, kind := range []hub.ConditionKind{hub.UntilAnswered, hub.UntilTasksComplete, hub.UntilRunComplete, hub.UntilMessageFrom, hub.UntilSeatIdle} {
			out = append(out, string(kind)+":")
		}
		return out, nil
	}
	find := map[hub.ConditionKind]lookup{
		hub.UntilAnswered: liveTasks, hub.UntilTasksComplete: liveTasks, hub.UntilRunComplete: liveRuns,
		hub.UntilMessageFrom: liveAgents, hub.UntilSeatIdle: liveAgents,
	}[hub.ConditionKind(word)]
	if find == nil {
		return nil, nil
	}
	q.prefix = typed
	values, err := find(ctx, c, q)
	for i := range values {
		values[i] = word + ":" + values[i]
	}
	return values, err
}
