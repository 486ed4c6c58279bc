package machine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// StartOptions are the flags of commands that start a daemon in the background.
type StartOptions struct {
	opt.AddressFlags
	opt.Storage
	AllowRemote bool
	opt.Spool
	opt.LimitFlags
	Timeout            time.Duration
	Quiet              bool
	Adopt              bool
	NoAutoRooms        bool
	AutoEnsureAdapters bool
	json               bool
}

// Start brings up a hub in the background, or finds the one that runs. Where nothing names the
// address and it is another user's, the hub gets a port of its own, which is remembered.
func (o *StartOptions) Start(ctx context.Context, env *term.Env, cmd *cobra.Command) (daemon.Started, error) {
	if o.Unnamed {
		if err := o.recall(ctx, env); err != nil {
			return daemon.Started{}, err
		}
	}
	for moves := 0; ; moves++ {
		got, err := o.startHere(ctx, env, cmd)
		other := o.otherUser(ctx, err)
		switch {
		case other == "":
			return got, o.explained(ctx, cmd, err)
		case !o.Unnamed || moves == mostMoves:
			return got, o.OthersHub(other)
		}
		if err := o.leave(ctx, env, other); err != nil {
			return got, err
		}
	}
}

// explained is the failure for an error of startHere.
func (o *StartOptions) explained(ctx context.Context, cmd *cobra.Command, err error) error {
	var e *daemon.StartError
	if !errors.As(err, &e) {
		return err
	}
	args, argsErr := o.daemonArgs(cmd)
	if argsErr != nil {
		return argsErr
	}
	return o.failure(ctx, e, args)
}

// startHere is start at the address.
func (o *StartOptions) startHere(ctx context.Context, env *term.Env, cmd *cobra.Command) (daemon.Started, error) {
	if !o.Storage.Given {
		if err := env.MakeDataRoot(); err != nil {
			return daemon.Started{}, err
		}
	}
	args, err := o.daemonArgs(cmd)
	if err != nil {
		return daemon.Started{}, err
	}
	got, err := env.Machine().Start(ctx, daemon.Request{
		BaseURL: o.BaseURL(), Storage: o.Storage.Path, Exact: o.Storage.Given, Timeout: o.Timeout, Args: args,
	})
	if err == nil && got.PID == 0 {
		o.noteOptions(env, cmd, got.Info)
	}
	return got, err
}

// failure says why no hub answers; args are those of the daemon.
func (o *StartOptions) failure(ctx context.Context, e *daemon.StartError, args []string) *term.Failure {
	foreground := "hubcli " + strings.Join(args, " ")
	switch e.Why {
	case daemon.PortTaken:
		var h *hub.Error
		if errors.As(e.Err, &h) {
			return &term.Failure{Exit: term.ExitUnreachable, Sentence: h.Message, Fix: h.FixFor(hub.ForCLI), Err: h}
		}
		return term.Fail(term.ExitUnreachable, "give the hub another port with --port, or stop the program that has this one",
			"port %d is held by another program", o.Port)
	case daemon.NotProved:
		return term.Fail(term.ExitUnreachable, "start a hub of your own on another port with --port; if the hub there is yours, set HUB_DATA_ROOT as it was when the hub was started, or end a hub of an earlier version",
			"the hub at %s is not known to be yours: no hub of your data root has served there", o.BaseURL())
	case daemon.EarlierHub:
		return earlierHub(term.ExitUnreachable, e.Holder.PID)
	case daemon.OthersHub:
		return o.OthersHub(e.Owner)
	case daemon.PortMute:
		return term.Fail(term.ExitWaitOver, "give the hub another port with --port, or check which process holds this one",
			"the process on port %d did not answer within %s", o.Port, o.Timeout)
	case daemon.RootNotMade:
		return term.RootNotMade(e.Err)
	case daemon.LockFailed:
		return &term.Failure{
			Exit: term.ExitUnreachable, Err: e.Err,
			Sentence: fmt.Sprintf("the lock of ensure cannot be taken: %v", e.Err),
			Fix:      "set HUB_DATA_ROOT to a folder that you may write to",
		}
	case daemon.CannotRun:
		return &term.Failure{
			Exit: term.ExitUnreachable, Err: e.Err,
			Sentence: fmt.Sprintf("the daemon cannot be started: %v", e.Err),
			Fix:      "run the hub in the foreground: " + foreground,
		}
	case daemon.Died:
		return died(e, foreground)
	case daemon.NotReady:
		return term.Fail(term.ExitWaitOver, "wait with a longer --timeout, or look into "+daemon.LogPath(o.Storage.Path),
			"the hub was started but is not ready after %s; it goes on starting", o.Timeout)
	case daemon.NotMine:
		return term.Fail(term.ExitWaitOver, "run the same command again",
			"another ensure is starting the hub, and the hub is not ready after %s", o.Timeout)
	case daemon.StoreHeld:
		f := heldFailure(ctx, o.Storage.Path, e.Holder, secondHub("hubcli ensure", o.Address))
		if e.Late {
			f.Exit = term.ExitWaitOver
		}
		return f
	case daemon.OtherStore:
		f := otherStore(o.Address, e.Running, o.Storage.Path)
		if e.URL != "" {
			f.Fix = fmt.Sprintf("the hub at %s (process %d) serves that store: use it with --base-url %[1]s", e.URL, e.Holder.PID)
		}
		return f
	default: // StoreReplaced
		return term.Fail(term.ExitRefused, "stop that hub, or find out what replaced the store",
			"the hub at %s does not serve the store that is in %s now", o.BaseURL(), o.Storage.Path)
	}
}

// earlierHub is the failure of a hub that serves the caller's store and cannot prove it.
func earlierHub(exit, pid int) *term.Failure {
	sentence, fix := daemon.EarlierWords(pid)
	return term.Fail(exit, fix, "%s", sentence)
}

// died repeats the last words of a daemon that ended before it was ready.
func died(e *daemon.StartError, foreground string) *term.Failure {
	f := &term.Failure{Exit: e.Exit, Sentence: e.Sentence, Fix: e.Fix}
	if f.Sentence == "" {
		f.Sentence = fmt.Sprintf("the daemon ended with exit code %d before it was ready", e.Exit)
		f.Fix = "run the hub in the foreground to see why: " + foreground
	}
	if f.Exit <= 0 {
		f.Exit = term.ExitUnreachable
	}
	return f
}

// otherStore is the failure of a hub that serves another store than the caller named.
func otherStore(a opt.Address, running, asked string) *term.Failure {
	return term.Fail(term.ExitRefused, "name the hub's own store with --storage, or its address with --host and --port",
		"the hub at %s serves the store %s, not %s", a.BaseURL(), running, asked)
}

// heldFailure names the holder of the store and the ways to a hub. second is
// the command that would start one with its own store.
func heldFailure(ctx context.Context, dir string, h daemon.Holder, second string) *term.Failure {
	other := "start a second hub with a port and a store of its own: " + second + " --storage FOLDER"
	if url, ok := h.ServesAt(ctx, dir); ok {
		return &term.Failure{
			Exit: term.ExitRefused, Err: &daemon.HeldError{Holder: h},
			Sentence: fmt.Sprintf("the store %s is served by the hub at %s (process %d)", dir, url, h.PID),
			Fix:      "use that hub with --base-url " + url + ", or " + other,
		}
	}
	who := "another, unknown process"
	switch urls := h.BaseURLs(); {
	case h.PID != 0 && len(urls) > 0:
		who = fmt.Sprintf("process %d, which does not answer at %s", h.PID, urls[0])
	case h.PID != 0:
		who = fmt.Sprintf("process %d, which serves no hub on it", h.PID)
	}
	return &term.Failure{
		Exit: term.ExitRefused, Err: &daemon.HeldError{Holder: h},
		Sentence: fmt.Sprintf("the store %s is held by %s", dir, who),
		Fix:      "wait until that process has ended, or end it; or " + other,
	}
}

// secondHub returns the command line that starts a hub at the address, without
// --storage.
func secondHub(command string, a opt.Address) string {
	flags := ""
	if a.Host != opt.DefaultHost {
		flags = " --host " + a.Host
	}
	if !a.Loopback() {
		flags += " --allow-remote"
	}
	return command + flags + " --port " + strconv.Itoa(a.Port)
}

// daemonArgs are the root flags of the daemon to start.
func (o *StartOptions) daemonArgs(cmd *cobra.Command) ([]string, error) {
	args := []string{
		"--host", o.Host, "--port", strconv.Itoa(o.Port),
		"--storage", o.Storage.Path, "--" + opt.LogFileFlag, daemon.LogPath(o.Storage.Path),
		"--max-body-chars", strconv.Itoa(o.MaxBodyChars),
		"--max-attachment-chars", strconv.Itoa(o.MaxAttachmentChars),
		"--max-attachments", strconv.Itoa(o.MaxAttachments),
	}
	if cmd.Flags().Changed("spool-dir") {
		dir, err := opt.Absolute("--spool-dir", o.Spool.Dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--spool-dir", dir)
	} else if here, err := filepath.Abs(opt.DefaultSpoolDir); err == nil { // the daemon has another current folder
		args = append(args, "--"+opt.SpoolHereFlag, here)
	}
	for flag, on := range map[string]bool{
		"--allow-remote": o.AllowRemote, "--quiet": o.Quiet, "--adopt": o.Adopt, "--no-auto-rooms": o.NoAutoRooms, "--auto-ensure-adapters": o.AutoEnsureAdapters,
	} {
		if on {
			args = append(args, flag)
		}
	}
	return args, nil
}

// serviceArgs are the arguments of a daemon that a service manager starts: what was
// not given keeps its default, also in later versions.
func (o *StartOptions) serviceArgs(cmd *cobra.Command) ([]string, error) {
	all, err := o.daemonArgs(cmd)
	if err != nil {
		return nil, err
	}
	var args []string
	for i := 0; i < len(all); i++ {
		if strings.HasPrefix(all[i], "--max-") || all[i] == "--"+opt.SpoolHereFlag {
			i++
			continue
		}
		args = append(args, all[i])
	}
	return args, nil
}

// noteOptions tells which options that were given differ from the running hub's.
func (o *StartOptions) noteOptions(env *term.Env, cmd *cobra.Command, i hub.Info) {
	var differ []string
	for _, each := range []struct {
		flag       string
		want, have any
	}{
		{"allow-remote", o.AllowRemote, i.AllowRemote},
		{"no-auto-rooms", o.NoAutoRooms, !slices.Contains(i.Features, hub.FeatureAutoRooms)},
		{"max-body-chars", o.MaxBodyChars, i.MaxBodyChars},
		{"max-attachment-chars", o.MaxAttachmentChars, i.MaxAttachmentChars},
		{"max-attachments", o.MaxAttachments, i.MaxAttachments},
	} {
		if cmd.Flags().Changed(each.flag) && each.have != each.want {
			differ = append(differ, fmt.Sprintf("--%s is %v", each.flag, each.have))
		}
	}
	if len(differ) > 0 {
		env.Note("the running hub has other options: %s; they change when it is stopped and started", strings.Join(differ, ", "))
	}
}
