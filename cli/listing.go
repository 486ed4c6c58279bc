package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// leastEvery bounds how often --watch looks.
const leastEvery = 100 * time.Millisecond

// listing is what the commands that show a list have in common.
type listing struct {
	baseURL
	color colorMode
	json  bool
	watch bool
	every time.Duration
	sees  sight
	noted string // what was said last of a filter that names nobody
}

// add declares the flags.
func (l *listing) add(env *Env, f *pflag.FlagSet) {
	l.every = 2 * time.Second
	l.baseURL.add(env, f)
	l.color.add(f)
	f.BoolVar(&l.json, "json", false, jsonRows)
	f.BoolVarP(&l.watch, "watch", "w", false, "look again and again, until Ctrl-C; with --json each look is one line")
	f.Var(durationValue{&l.every, leastEvery, maxSeconds * time.Second, inUnits}, "every", "`time` between two looks of --watch, such as 2 or 500ms")
}

// found is the outcome of one look: the rows for --json, and the same for people.
type found struct {
	rows    any
	text    view
	unknown string // what is said of a filter that names nobody; may be empty
}

// view is what people are shown of a look.
type view interface {
	lines(s screen) []string // safe for a terminal
	empty() string           // what is said where there is nothing to show; "": there is something
}

// run shows what find finds, once or with --watch until the command is interrupted.
func (l *listing) run(cmd *cobra.Command, env *Env, find func(context.Context, *spectator) (found, error)) error {
	if cmd.Flags().Changed("every") && !l.watch {
		return usage("add --watch, or leave --every out", "--every is for --watch only")
	}
	c, err := l.client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := cmd.Context()
	s, err := newSpectator(ctx, env, c, l.sees)
	if err != nil {
		return err
	}
	look := func() (found, error) { return find(ctx, s) }
	if l.watch {
		return l.repeat(ctx, env, cmd.CommandPath(), look)
	}
	got, err := look()
	switch {
	case err != nil:
		return err
	case l.json:
		err = printJSON(env.Stdout, got.rows)
	default:
		err = l.print(env, got.text)
	}
	l.note(env, got.unknown)
	return err
}

// note says once that the filter names nobody.
func (l *listing) note(env *Env, unknown string) {
	if unknown != "" && unknown != l.noted {
		env.note("%s", unknown)
	}
	l.noted = unknown
}

// print shows one look.
func (l *listing) print(env *Env, v view) error {
	if none := v.empty(); none != "" {
		env.note("%s", none)
		return nil
	}
	_, err := io.WriteString(env.Stdout, strings.Join(v.lines(env.screen(l.color)), "\n")+"\n")
	return err
}

// repeat looks until ctx ends, which is no failure. It fails if the first look does. If
// the hub goes away later, it goes on looking.
func (l *listing) repeat(ctx context.Context, env *Env, title string, look func() (found, error)) error {
	show := l.append
	if env.StdoutTerminal != nil && env.StdoutTerminal() && !l.json {
		if _, err := io.WriteString(env.Stdout, enterScreen); err != nil {
			return err
		}
		defer func() { _, _ = io.WriteString(env.Stdout, leaveScreen) }()
		show = l.redraw
	}
	var last *found
	for {
		got, err := look()
		away := ""
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			last = &got
		case last == nil || exitOf(err) != ExitUnreachable:
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
func (l *listing) append(env *Env, _ string, got found, away string) error {
	if away != "" {
		env.note("%s", away)
		return nil
	}
	l.note(env, got.unknown)
	if l.json {
		return printLine(env.Stdout, got.rows)
	}
	s := env.screen(l.color)
	_, err := fmt.Fprintf(env.Stdout, "%s\n%s\n\n", s.paint(env.Now().Local().Format(time.RFC3339), sgrDim), strings.Join(got.text.lines(s), "\n"))
	return err
}

// redraw replaces what the terminal shows.
func (l *listing) redraw(env *Env, title string, got found, away string) error {
	s := env.screen(l.color)
	head := fmt.Sprintf("%s  every %s  %s", title, durationText(l.every), env.Now().Local().Format(time.TimeOnly))
	if away != "" {
		head += "  " + oneLine(away)
	}
	lines := got.text.lines(s)
	if none := got.text.empty(); none != "" {
		lines = []string{none}
	}
	if got.unknown != "" {
		lines = append(lines, peertext.TerminalLine(got.unknown))
	}
	_, err := io.WriteString(env.Stdout, frame(s.paint(head, sgrDim), lines, s))
	return err
}

// What a terminal is told. A frame is drawn over the one before, line by line, and
// shown at once by terminals that know synchronized output: nothing flickers.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	beginFrame  = "\x1b[?2026h\x1b[H"
	clearLine   = "\x1b[K"
	endFrame    = "\x1b[J\x1b[?2026l"
)

// frame draws a title and as many lines as the screen has room for.
func frame(title string, lines []string, s screen) string {
	if room := max(1, s.height-1); len(lines) > room {
		kept := max(0, room-1)
		lines = append(lines[:kept:kept], fmt.Sprintf("and %d more", len(lines)-kept))
	}
	var b strings.Builder
	b.WriteString(beginFrame + s.cut(title) + clearLine)
	for _, line := range lines {
		b.WriteString("\r\n" + s.cut(line) + clearLine)
	}
	b.WriteString(endFrame)
	return b.String()
}

// firstOf reads the first n rows of a list; 0 are all.
func firstOf[T any](n int, rows iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for row, err := range upTo(n, rows) {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}
