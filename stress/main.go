// Command stress drives the built hub from outside.
//
//	go run ./stress bench    measures it beside a ceiling
//	go run ./stress kill     kills it under load and looks for lost data
//	go run ./stress damage   damages its files and looks for another history
//	go run ./stress disks    runs it on disks that are full, read-only, failing or slow
//	go run ./stress crowd    puts a crowd onto it and looks at what others notice
//	go run ./stress linear   does it all kinds of harm and checks every answer
//	go run ./stress peers    measures it beside other servers
//	go run ./stress power    cuts the power of a machine with it
//	go run ./stress figures  does all of it and writes docs/figures.md
//
// Each takes -h. It listens and connects on loopback only, starts hubs on
// stores of its own in a temporary folder, and removes both when it ends, also
// when it is interrupted. It is for developers and is not part of a release.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"hubcli/stress/bench"
	"hubcli/stress/ceiling"
	"hubcli/stress/crash"
	"hubcli/stress/crowd"
	"hubcli/stress/damage"
	"hubcli/stress/disks"
	"hubcli/stress/figures"
	"hubcli/stress/linear"
	"hubcli/stress/peers"
	"hubcli/stress/power"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "stress: interrupted")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errors.New("which program? bench, kill, damage, disks, crowd, linear, peers, power or figures")
	}
	switch name, args := args[0], args[1:]; name {
	case "bench":
		return runBench(ctx, args, stdout, stderr)
	case "kill":
		return runKill(ctx, args, stdout, stderr)
	case "damage":
		return runDamage(ctx, args, stdout, stderr)
	case "disks":
		return runDisks(ctx, args, stdout, stderr)
	case "crowd":
		return runCrowd(ctx, args, stdout, stderr)
	case "linear":
		return runLinear(ctx, args, stdout, stderr)
	case "peers":
		return runPeers(ctx, args, stdout, stderr)
	case "power":
		return runPower(ctx, args, stdout, stderr)
	case "figures":
		return runFigures(ctx, args, stderr)
	case power.Command:
		power.Guest(args)
		return nil
	case crowd.Command:
		if len(args) != 1 {
			return errors.New("the pair of a crowd needs the address of a hub")
		}
		return crowd.Pair(ctx, args[0], os.Stdin, stdout)
	case "ceiling":
		return ceiling.Serve(ctx, func(addr string) { fmt.Fprintln(stdout, addr) })
	case "ceiling-bridge":
		return ceiling.ServeBridge(ctx)
	default:
		return fmt.Errorf("no program %q; there are bench, kill, damage, disks, crowd, linear, peers, power and figures", name)
	}
}

func runBench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := bench.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("bench", stderr, &o.Dir, &o.Executable)
	flags.Func("figures", "comma-separated; of "+strings.Join(bench.Names(), ","), func(s string) error {
		o.Figures = strings.Split(s, ",")
		return nil
	})
	flags.IntVar(&o.Rounds, "rounds", o.Rounds, "turns of hub and ceiling per figure")
	flags.DurationVar(&o.Round, "round", o.Round, "length of a turn")
	flags.IntVar(&o.Agents, "agents", o.Agents, "closed loops of the throughput figures")
	flags.IntVar(&o.Waiters, "waiters", o.Waiters, "parked polls of the wake figure")
	flags.IntVar(&o.Parked, "parked", o.Parked, "parked polls of the memory figure")
	flags.IntVar(&o.Bridges, "bridges", o.Bridges, "bridges that wait, of the figure mcp")
	flags.IntVar(&o.Messages, "messages", o.Messages, "messages of the large store")
	flags.IntVar(&o.Things, "things", o.Things, "agents and claims of the figure many, which has a tenth as many channels, rooms and seats")
	flags.DurationVar(&o.Settle, "settle", o.Settle, "pause before memory is read")
	flags.DurationVar(&o.Idle, "idle", o.Idle, "length of the idle figure")
	flags.BoolVar(&o.Idempotency, "idempotency", false, "writes carry an Idempotency-Key")
	flags.BoolVar(&o.Itself, "itself", false, "measure the ceiling against itself, to see the noise")
	flags.StringVar(&o.Profiles, "profiles", "", "folder for processor profiles of the hub; it is built with them then")
	asJSON := flags.Bool("json", false, "print the report as JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	report, err := bench.Run(ctx, o)
	if report != nil {
		err = errors.Join(err, write(stdout, report, *asJSON))
	}
	return err
}

// write writes a report for people, or for programs.
func write(w io.Writer, report interface{ WriteText(io.Writer) error }, asJSON bool) error {
	if !asJSON {
		return report.WriteText(w)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}

func runKill(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := crash.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("kill", stderr, &o.Dir, &o.Executable)
	flags.IntVar(&o.Cycles, "cycles", o.Cycles, "starts, each of which ends by a kill")
	flags.IntVar(&o.Agents, "agents", o.Agents, "agents that write messages and claims")
	flags.IntVar(&o.Keepers, "keepers", o.Keepers, "agents that write tasks, artifacts and memories")
	flags.IntVar(&o.Pollers, "pollers", o.Pollers, "agents that poll")
	flags.IntVar(&o.Answers, "answers", o.Answers, "a kill comes after at most so many answers")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of the moments of the kills")
	flags.BoolVar(&o.SmallTables, "small-tables", false, "build a hub that writes and merges small tables all the time")
	if err := parse(flags, args); err != nil {
		return err
	}
	summary, err := crash.Run(ctx, o)
	return tell(stdout, summary, err)
}

func runLinear(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := linear.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("linear", stderr, &o.Dir, &o.Executable)
	flags.IntVar(&o.Cycles, "cycles", o.Cycles, "starts, most of which end by a kill")
	flags.IntVar(&o.Clients, "clients", o.Clients, "clients that call all the time")
	flags.IntVar(&o.Followers, "followers", o.Followers, "pollers that must have the final history")
	flags.IntVar(&o.Answers, "answers", o.Answers, "harm comes after at most so many answers")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of the harm and of the calls")
	flags.BoolVar(&o.Clock, "clock", false, "build a hub whose wall clock can be set, and set it; the first build takes minutes")
	if err := parse(flags, args); err != nil {
		return err
	}
	summary, err := linear.Run(ctx, o)
	return tell(stdout, summary, err)
}

func runDamage(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := damage.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("damage", stderr, &o.Dir, &o.Executable)
	flags.IntVar(&o.Count, "count", o.Count, "damages, each of a copy of the store")
	flags.IntVar(&o.Records, "records", o.Records, "answered writes that make the store")
	flags.IntVar(&o.Salvages, "salvages", o.Salvages, "one in so many stores that are not whole is salvaged")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of the damages")
	if err := parse(flags, args); err != nil {
		return err
	}
	summary, err := damage.Run(ctx, o)
	return tell(stdout, summary, err)
}

func runDisks(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := disks.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("disks", stderr, &o.Dir, &o.Executable)
	flags.IntVar(&o.Steps, "steps", o.Steps, "disks, each with a hub and a store of its own")
	flags.Func("scenarios", "comma-separated kinds of disks, of "+strings.Join(disks.Scenarios(), ",")+"; default: all", func(s string) error {
		o.Scenarios = strings.Split(s, ",")
		return nil
	})
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of the harm to the disks")
	if err := parse(flags, args); err != nil {
		return err
	}
	summary, err := disks.Run(ctx, o)
	return tell(stdout, summary, err)
}

func runCrowd(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := crowd.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("crowd", stderr, &o.Dir, &o.Executable)
	flags.Func("scenarios", "comma-separated kinds of crowds, of "+strings.Join(crowd.Scenarios(), ",")+"; default: all", func(s string) error {
		o.Scenarios = strings.Split(s, ",")
		return nil
	})
	flags.DurationVar(&o.Duration, "duration", o.Duration, "time that a crowd stays")
	flags.DurationVar(&o.Quiet, "quiet", o.Quiet, "time before it comes")
	flags.IntVar(&o.Agents, "agents", o.Agents, "agents that talk in channels")
	flags.IntVar(&o.Channels, "channels", o.Channels, "channels in which they talk")
	flags.DurationVar(&o.Pace, "pace", o.Pace, "time between two posts of one of them")
	flags.IntVar(&o.Sessions, "sessions", o.Sessions, "sessions that begin in a second")
	flags.IntVar(&o.Slow, "slow", o.Slow, "slow clients, a quarter of each kind")
	flags.IntVar(&o.Greedy, "greedy", o.Greedy, "connections of the greedy agent that do nothing; an eighth as many each poll, post and read")
	asJSON := flags.Bool("json", false, "print the report as JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	report, err := crowd.Run(ctx, o)
	if report != nil {
		err = errors.Join(err, write(stdout, report, *asJSON))
	}
	return err
}

func runPeers(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := peers.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("peers", stderr, &o.Dir, &o.Executable)
	flags.IntVar(&o.Rounds, "rounds", o.Rounds, "turns of each server")
	flags.DurationVar(&o.Round, "round", o.Round, "length of a figure in a turn")
	flags.IntVar(&o.Agents, "agents", o.Agents, "agents of the rates")
	flags.IntVar(&o.Waiters, "waiters", o.Waiters, "waiters of the wake")
	flags.StringVar(&o.NATS, "nats", "", "path of a nats-server; default: the system's")
	flags.StringVar(&o.Other, "other", "", "another hub that speaks the protocol: its address, or the path of a program with the options of a hub")
	asJSON := flags.Bool("json", false, "print the report as JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	report, err := peers.Run(ctx, o)
	if report != nil {
		err = errors.Join(err, write(stdout, report, *asJSON))
	}
	return err
}

func runPower(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := power.DefaultOptions()
	o.Progress = stderr
	flags := newFlags("power", stderr, &o.Dir, &o.Executable)
	flags.IntVar(&o.Cuts, "cuts", o.Cuts, "cuts of the power")
	flags.IntVar(&o.Fresh, "fresh", o.Fresh, "cuts after which a new disk is taken")
	flags.IntVar(&o.Control, "control", o.Control, "cuts, at most, in which a hub without synced writes must lose something; 0: no control")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of the moments of the cuts")
	if err := parse(flags, args); err != nil {
		return err
	}
	summary, err := power.Run(ctx, o)
	return tell(stdout, summary, err)
}

func runFigures(ctx context.Context, args []string, stderr io.Writer) error {
	o := figures.Options{Docs: "docs", Progress: stderr}
	flags := newFlags("figures", stderr, &o.Dir, nil)
	flags.StringVar(&o.Docs, "docs", o.Docs, "folder in which figures.md is written")
	flags.DurationVar(&o.Budget, "budget", 30*time.Minute, "time of the programs that look for broken promises, together; 0: none of them")
	flags.StringVar(&o.NATS, "nats", "", "path of a nats-server for the figure peers; default: the system's")
	flags.Func("figures", "comma-separated, of the bench, or peers; they replace those of the last run on this machine; default: all", func(s string) error {
		o.Figures = strings.Split(s, ",")
		return nil
	})
	flags.IntVar(&o.Rounds, "rounds", 0, "turns of hub and ceiling per figure; 0: those of the bench")
	flags.IntVar(&o.Messages, "messages", 0, "messages of the large store; 0: those of the bench")
	again := flags.Bool("again", false, "measure nothing: write the page and the plot anew from the data of the last run")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *again {
		return figures.Again(o.Docs)
	}
	return figures.Run(ctx, o)
}

// newFlags makes the flags of a program, with those that all have: where its stores go, and
// a hub that is built already, unless hub is nil.
func newFlags(program string, stderr io.Writer, dir, hub *string) *flag.FlagSet {
	flags := flag.NewFlagSet("stress "+program, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(dir, "dir", "", "folder for stores and disks; default: the system's temporary folder")
	if hub != nil {
		flags.StringVar(hub, "hub", "", "a hub that is built already; default: build it")
	}
	return flags
}

// tell prints a summary, if there is one.
func tell[T any, S interface {
	*T
	fmt.Stringer
}](stdout io.Writer, summary S, err error) error {
	if summary != nil {
		fmt.Fprintln(stdout, summary)
	}
	return err
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}
