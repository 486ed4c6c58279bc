package list

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// leastEvery bounds how often --watch looks.
const leastEvery = 100 * time.Millisecond

// Listing is what the commands that show a list have in common.
type Listing struct {
	opt.BaseURL
	color term.ColorMode
	JSON  bool
	watch bool
	quiet bool
	id    string // the member of a row that names it; empty: the rows have none
	every time.Duration
	Sees  sight
	noted string // what was said last of a filter that names nobody
}

// Add declares the flags.
func (l *Listing) Add(env *term.Env, f *pflag.FlagSet) {
	l.every = 2 * time.Second
	l.BaseURL.Add(env, f)
	l.color.Add(f)
	f.BoolVar(&l.JSON, "json", false, JSONRows)
	f.BoolVarP(&l.watch, "watch", "w", false, "look again and again, until Ctrl-C; with --json each look is one line")
	f.Var(term.DurationValue{To: &l.every, Min: leastEvery, Max: term.MaxSeconds * time.Second, Style: term.InUnits}, "every", "`time` between two looks of --watch, such as 2 or 500ms")
}

// AddIDs is Add for a list whose rows have a member that names each. --quiet prints these alone.
func (l *Listing) AddIDs(env *term.Env, f *pflag.FlagSet, member string) {
	l.id = member
	l.Add(env, f)
	f.BoolVarP(&l.quiet, "quiet", "q", false, "print the ids of the rows alone, one a line")
}

// printIDs prints what names each row.
func (l *Listing) printIDs(env *term.Env, rows any) error {
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	decoder, all := json.NewDecoder(bytes.NewReader(text)), []map[string]any(nil)
	decoder.UseNumber() // an id stays as it is
	if err := decoder.Decode(&all); err != nil {
		return err
	}
	var b strings.Builder
	for _, row := range all {
		b.WriteString(peertext.TerminalLine(fmt.Sprint(row[l.id])) + "\n")
	}
	_, err = io.WriteString(env.Stdout, b.String())
	return err
}

// Found is the outcome of one look: the rows for --json, and the same for people.
type Found struct {
	Rows    any
	Text    view
	Unknown string // what is said of a filter that names nobody; may be empty
}

// view is what people are shown of a look.
type view interface {
	Lines(s term.Screen) []string // safe for a terminal
	Empty() string                // what is said where there is nothing to show; "": there is something
}

// Run shows what find finds, once or with --watch until the command is interrupted.
func (l *Listing) Run(cmd *cobra.Command, env *term.Env, find func(context.Context, *Spectator) (Found, error)) error {
	if cmd.Flags().Changed("every") && !l.watch {
		return term.Usage("add --watch, or leave --every out", "--every is for --watch only")
	}
	if l.quiet && (l.JSON || l.watch) {
		return term.Usage("leave --quiet out", "--quiet prints ids once, without --json and --watch")
	}
	c, err := l.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := cmd.Context()
	s, err := newSpectator(ctx, env, c, l.Sees)
	if err != nil {
		return err
	}
	look := func() (Found, error) { return find(ctx, s) }
	if l.watch {
		return l.repeat(ctx, env, cmd.CommandPath(), look)
	}
	got, err := look()
	switch {
	case err != nil:
		return err
	case l.quiet:
		err = l.printIDs(env, got.Rows)
	case l.JSON:
		err = term.PrintJSON(env.Stdout, got.Rows)
	default:
		err = l.Print(env, got.Text)
	}
	l.note(env, got.Unknown)
	return err
}

// note says once that the filter names nobody.
func (l *Listing) note(env *term.Env, unknown string) {
	if unknown != "" && unknown != l.noted {
		env.Note("%s", unknown)
	}
	l.noted = unknown
}

// Print shows one look.
func (l *Listing) Print(env *term.Env, v view) error {
	if none := v.Empty(); none != "" {
		env.Note("%s", none)
		return nil
	}
	_, err := io.WriteString(env.Stdout, strings.Join(v.Lines(env.Screen(l.color)), "\n")+"\n")
	return err
}

// repeat looks until ctx ends, which is no failure. It fails if the first look does. If
// the hub goes away later, it goes on looking.
func (l *Listing) repeat(ctx context.Context, env *term.Env, title string, look func() (Found, error)) error {
	show := l.append
	if env.StdoutTerminal != nil && env.StdoutTerminal() && !l.JSON {
		if _, err := io.WriteString(env.Stdout, enterScreen); err != nil {
			return err
		}
		defer func() { _, _ = io.WriteString(env.Stdout, leaveScreen) }()
		show = l.redraw
	}
	var last *Found
	for {
		got, err := look()
		away := ""
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			last = &got
		case last == nil || term.ExitOf(err) != term.ExitUnreachable:
			return err
		default:
			away = err.Error()
		}
		if err := show(env, title, *last, away); err != nil {
			return err
		}
		if !pause.For(ctx, l.every) {
			return nil
		}
	}
}

// append prints a look below the one before.
func (l *Listing) append(env *term.Env, _ string, got Found, away string) error {
	if away != "" {
		env.Note("%s", away)
		return nil
	}
	l.note(env, got.Unknown)
	if l.JSON {
		return term.PrintLine(env.Stdout, got.Rows)
	}
	s := env.Screen(l.color)
	_, err := fmt.Fprintf(env.Stdout, "%s\n%s\n\n", s.Paint(env.Now().Local().Format(time.RFC3339), term.SGRDim), strings.Join(got.Text.Lines(s), "\n"))
	return err
}

// redraw replaces what the terminal shows.
func (l *Listing) redraw(env *term.Env, title string, got Found, away string) error {
	s := env.Screen(l.color)
	head := fmt.Sprintf("%s  every %s  %s", title, term.DurationText(l.every), env.Now().Local().Format(time.TimeOnly))
	if away != "" {
		head += "  " + term.OneLine(away)
	}
	lines := got.Text.Lines(s)
	if none := got.Text.Empty(); none != "" {
		lines = []string{none}
	}
	if got.Unknown != "" {
		lines = append(lines, peertext.TerminalLine(got.Unknown))
	}
	_, err := io.WriteString(env.Stdout, frame(s.Paint(head, term.SGRDim), lines, s))
	return err
}

// What a terminal is told. A frame is drawn over the one before, line by line, and
// shown at once by terminals that know synchronized output: nothing flickers.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	beginFrame  = "\x1b[?2026h\x1b[H"
	endFrame    = "\x1b[J\x1b[?2026l"
)

// frame draws a title and as many lines as the screen has room for.
func frame(title string, lines []string, s term.Screen) string {
	if room := max(1, s.Height-1); len(lines) > room {
		kept := max(0, room-1)
		lines = append(lines[:kept:kept], fmt.Sprintf("and %d more", len(lines)-kept))
	}
	var b strings.Builder
	b.WriteString(beginFrame + s.Cut(title) + term.ClearLine)
	for _, line := range lines {
		b.WriteString("\r\n" + s.Cut(line) + term.ClearLine)
	}
	b.WriteString(endFrame)
	return b.String()
}

// FirstOf reads the first n rows of a list; 0 are all.
func FirstOf[T any](n int, rows iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for row, err := range UpTo(n, rows) {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// LogTail is how many messages log prints where nothing says how many.
const LogTail = 100
