package machine

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// shownRows bounds the rows of each list in the text of app debug. --json shows
// all rows that the hub sends.
const shownRows = 20

type appDebugOptions struct {
	opt.BaseURL
	json    bool
	stacks  bool
	profile string // file
	kind    string
	seconds time.Duration
	force   bool
}

// NewDebug makes the command debug.
func NewDebug(env *term.Env) *cobra.Command {
	o := appDebugOptions{kind: string(hub.ProfileCPU), seconds: 5 * time.Second}
	cmd := &cobra.Command{
		Use:   "debug",
		Short: "Show what the hub does at this moment",
		Long: `Show what the running hub does now: its owners and their commands, the
calls that wait, the records that are not on the disk yet, and the last ones that are.
It shows no text of an agent and no secret. It reads the operator token in the store
of the hub, so only the user who started the hub can use it.

With --profile it writes a profile of the hub's process to a file instead, for
"go tool pprof". --kind names the profile.`,
		Example: `  hubcli app debug
  hubcli app debug --stacks > hub.txt
  hubcli app debug --profile cpu.pprof --seconds 10
  hubcli app debug --profile heap.pprof --kind heap`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("profile") {
				return runAppProfile(cmd.Context(), env, &o)
			}
			return runAppDebug(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	f.BoolVar(&o.stacks, "stacks", false, "show the stacks of all goroutines too")
	f.StringVar(&o.profile, "profile", "", "`file` to write a profile to")
	kinds := make([]string, 0, len(hub.ProfileKinds()))
	for _, kind := range hub.ProfileKinds() {
		kinds = append(kinds, string(kind))
	}
	f.Var(term.ChoiceValue{To: &o.kind, Choices: kinds}, "kind", "profile to take: "+strings.Join(kinds, ", "))
	f.Var(term.DurationValue{To: &o.seconds, Min: time.Second, Max: hub.MaxProfileTime, Style: term.InWholeSeconds}, "seconds", "`time` that a cpu profile takes, such as 10 or 10s")
	f.BoolVar(&o.force, "force", false, "replace the regular file that is there")
	o.BaseURL.Add(env, f)
	return cmd
}

// check refuses flags that do not go together.
func (o *appDebugOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if !given("profile") {
		for _, name := range []string{"kind", "seconds", "force"} {
			if given(name) {
				return term.Usage("name the file of the profile with --profile FILE", "--%s is for a profile only", name)
			}
		}
		return nil
	}
	switch {
	case o.profile == "":
		return term.Usage("name a file", "--profile cannot be empty")
	case o.json || o.stacks:
		return term.Usage("leave --profile out, or --json and --stacks", "a profile is no text")
	case given("seconds") && o.kind != string(hub.ProfileCPU):
		return term.Usage("leave --seconds out", "--seconds is for a cpu profile only")
	}
	return nil
}

func runAppProfile(ctx context.Context, env *term.Env, o *appDebugOptions) error {
	if _, _, err := term.Replaceable(o.profile, o.force); err != nil { // before the hub takes the profile
		return err
	}
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	q := hub.ProfileQuery{Kind: hub.ProfileKind(o.kind)}
	if q.Kind == hub.ProfileCPU {
		q.For = o.seconds
	}
	data, err := c.Profile(ctx, q)
	if err != nil {
		return err
	}
	if err := term.WriteContent(o.profile, data, o.force); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "wrote the %s profile to %s, %d bytes\n", o.kind, peertext.TerminalLine(o.profile), len(data))
	return err
}

func runAppDebug(ctx context.Context, env *term.Env, o *appDebugOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	d, err := c.Debug(ctx, hub.DebugQuery{Stacks: o.stacks})
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintJSON(env.Stdout, d)
	}
	return printDebug(env.Stdout, &d)
}

func printDebug(w io.Writer, d *hub.Debug) error {
	var views []string
	for _, name := range slices.Sorted(maps.Keys(d.Views)) {
		views = append(views, fmt.Sprintf("%d %s", d.Views[name], name))
	}
	h := &d.Heap
	if err := term.PrintRows(w, [][2]string{
		{"journal", fmt.Sprintf("record %d is durable, %d is numbered; %d records and %d answers are pending", d.DurableSeq, d.NumberedSeq, d.PendingCount, d.PendingAnswers)},
		{"owners", fmt.Sprintf("%d in memory or in quarantine, %d retired since the start", d.OwnerCount, d.RetiredCount)},
		{"parked calls", fmt.Sprint(d.ParkedCount)},
		{"views", strings.Join(views, ", ")},
		{"heap", fmt.Sprintf("%d MiB in %d objects, goal %d MiB, %d MiB from the system, %d collections", h.LiveBytes>>20, h.Objects, h.GoalBytes>>20, h.TotalBytes>>20, h.GCCycles)},
		{"goroutines", fmt.Sprint(d.Goroutines)},
	}); err != nil {
		return err
	}
	for _, section := range []struct {
		title string
		rows  []string
		all   int
	}{
		{"pending records, the oldest first", recordLines(d.Pending), d.PendingCount},
		{"owners, the busiest first", ownerLines(d.Owners), d.OwnerCount},
		{"parked calls, the longest first", parkedLines(d.Parked, d.At), d.ParkedCount},
		{"last durable records, the latest first", recordLines(d.Recent), len(d.Recent)},
	} {
		if err := printSection(w, section.title, section.rows, section.all); err != nil {
			return err
		}
	}
	if d.Stacks == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s", peertext.Terminal(d.Stacks))
	return err
}

// printSection prints the first rows of a list under its title, and the number
// of rows left out. It prints nothing for an empty list.
func printSection(w io.Writer, title string, rows []string, all int) error {
	if all == 0 {
		return nil
	}
	text := "\n" + title + "\n"
	shown := rows[:min(len(rows), shownRows)]
	for _, row := range shown {
		text += "  " + peertext.TerminalLine(row) + "\n"
	}
	if left := all - len(shown); left > 0 {
		text += fmt.Sprintf("  and %d more\n", left)
	}
	_, err := io.WriteString(w, text)
	return err
}

func recordLines(records []hub.DebugRecord) []string {
	lines := make([]string, len(records))
	for i := range records {
		r := &records[i]
		lines[i] = fmt.Sprintf("%-8d %-10s %s %s: %d facts (%s), %d messages, %d rows, %d bytes",
			r.Seq, r.State, r.At, r.Owner, r.Facts, strings.Join(r.FactTypes, ", "), r.Messages, r.Rows, r.Bytes)
	}
	return lines
}

func ownerLines(owners []hub.DebugOwner) []string {
	lines := make([]string, len(owners))
	for i := range owners {
		o := &owners[i]
		name := o.Kind
		if o.Name != "" {
			name += "/" + o.Name
		}
		lines[i] = fmt.Sprintf("%-11s %d commands, %d bytes, last record %d: %s", o.State, o.Commands, o.Bytes, o.LastSeq, name)
	}
	return lines
}

func parkedLines(calls []hub.ParkedCall, now hub.Time) []string {
	lines := make([]string, len(calls))
	for i, p := range calls {
		waited := now.Std().Sub(p.Since.Std()).Round(time.Second)
		lines[i] = fmt.Sprintf("%-6s %s for %s", p.Kind, term.OrNone(string(p.AgentID)), waited)
	}
	return lines
}
