package cli

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
	"hubcli/hub"
)

// startOptions are the flags of commands that start a daemon in the background.
type startOptions struct {
	addressFlags
	storage
	allowRemote bool
	spool
	limits
	timeout            time.Duration
	quiet              bool
	adopt              bool
	noAutoRooms        bool
	autoEnsureAdapters bool
	json               bool
}

// start brings up a hub in the background, or finds the one that runs. Where nothing names the
// address and it is another user's, the hub gets a port of its own, which is remembered.
func (o *startOptions) start(ctx context.Context, env *Env, cmd *cobra.Command) (daemon.Started, error) {
	if o.unnamed {
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
		case !o.unnamed || moves == mostMoves:
			return got, o.othersHub(other)
		}
		if err := o.leave(ctx, env, other); err != nil {
			return got, err
		}
	}
}

// explained is the failure for an error of startHere.
func (o *startOptions) explained(ctx context.Context, cmd *cobra.Command, err error) error {
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
func (o *startOptions) startHere(ctx context.Context, env *Env, cmd *cobra.Command) (daemon.Started, error) {
	if !o.storage.given {
		if err := env.makeDataRoot(); err != nil {
			return daemon.Started{}, err
		}
	}
	args, err := o.daemonArgs(cmd)
	if err != nil {
		return daemon.Started{}, err
	}
	got, err := env.machine().Start(ctx, daemon.Request{
		BaseURL: o.baseURL(), Storage: o.storage.path, Exact: o.storage.given, Timeout: o.timeout, Args: args,
	})
	if err == nil && got.PID == 0 {
		o.noteOptions(env, cmd, got.Info)
	}
	return got, err
}

// failure says why no hub answers; args are those of the daemon.
func (o *startOptions) failure(ctx context.Context, e *daemon.StartError, args []string) *Failure {
	foreground := "hubcli " + strings.Join(args, " ")
	switch e.Why {
	case daemon.PortTaken:
		var h *hub.Error
		if errors.As(e.Err, &h) {
			return &Failure{Exit: ExitUnreachable, Sentence: h.Message, Fix: h.FixFor(hub.ForCLI), Err: h}
		}
		return fail(ExitUnreachable, "give the hub another port with --port, or stop the program that has this one",
			"port %d is held by another program", o.port)
	case daemon.NotProved:
		return fail(ExitUnreachable, "start a hub of your own on another port with --port; if the hub there is yours, set HUB_DATA_ROOT as it was when the hub was started, or end a hub of an earlier version",
			"the hub at %s is not known to be yours: no hub of your data root has served there", o.baseURL())
	case daemon.EarlierHub:
		return earlierHub(ExitUnreachable, e.Holder.PID)
	case daemon.OthersHub:
		return o.othersHub(e.Owner)
	case daemon.PortMute:
		return fail(ExitWaitOver, "give the hub another port with --port, or check which process holds this one",
			"the process on port %d did not answer within %s", o.port, o.timeout)
	case daemon.RootNotMade:
		return rootNotMade(e.Err)
	case daemon.LockFailed:
		return &Failure{
			Exit: ExitUnreachable, Err: e.Err,
			Sentence: fmt.Sprintf("the lock of ensure cannot be taken: %v", e.Err),
			Fix:      "set HUB_DATA_ROOT to a folder that you may write to",
		}
	case daemon.CannotRun:
		return &Failure{
			Exit: ExitUnreachable, Err: e.Err,
			Sentence: fmt.Sprintf("the daemon cannot be started: %v", e.Err),
			Fix:      "run the hub in the foreground: " + foreground,
		}
	case daemon.Died:
		return died(e, foreground)
	case daemon.NotReady:
		return fail(ExitWaitOver, "wait with a longer --timeout, or look into "+daemon.LogPath(o.storage.path),
			"the hub was started but is not ready after %s; it goes on starting", o.timeout)
	case daemon.NotMine:
		return fail(ExitWaitOver, "run the same command again",
			"another ensure is starting the hub, and the hub is not ready after %s", o.timeout)
	case daemon.StoreHeld:
		f := heldFailure(ctx, o.storage.path, e.Holder, secondHub("hubcli ensure", o.address))
		if e.Late {
			f.Exit = ExitWaitOver
		}
		return f
	case daemon.OtherStore:
		f := otherStore(o.address, e.Running, o.storage.path)
		if e.URL != "" {
			f.Fix = fmt.Sprintf("the hub at %s (process %d) serves that store: use it with --base-url %[1]s", e.URL, e.Holder.PID)
		}
		return f
	default: // StoreReplaced
		return fail(ExitRefused, "stop that hub, or find out what replaced the store",
			"the hub at %s does not serve the store that is in %s now", o.baseURL(), o.storage.path)
	}
}

// earlierHub is the failure of a hub that serves the caller's store and cannot prove it.
func earlierHub(exit, pid int) *Failure {
	sentence, fix := daemon.EarlierWords(pid)
	return fail(exit, fix, "%s", sentence)
}

// died repeats the last words of a daemon that ended before it was ready.
func died(e *daemon.StartError, foreground string) *Failure {
	f := &Failure{Exit: e.Exit, Sentence: e.Sentence, Fix: e.Fix}
	if f.Sentence == "" {
		f.Sentence = fmt.Sprintf("the daemon ended with exit code %d before it was ready", e.Exit)
		f.Fix = "run the hub in the foreground to see why: " + foreground
	}
	if f.Exit <= 0 {
		f.Exit = ExitUnreachable
	}
	return f
}

// otherStore is the failure of a hub that serves another store than the caller named.
func otherStore(a address, running, asked string) *Failure {
	return fail(ExitRefused, "name the hub's own store with --storage, or its address with --host and --port",
		"the hub at %s serves the store %s, not %s", a.baseURL(), running, asked)
}

// heldFailure names the holder of the store and the ways to a hub. second is
// the command that would start one with its own store.
func heldFailure(ctx context.Context, dir string, h daemon.Holder, second string) *Failure {
	other := "start a second hub with a port and a store of its own: " + second + " --storage FOLDER"
	if url, ok := h.ServesAt(ctx, dir); ok {
		return &Failure{
			Exit: ExitRefused, Err: &daemon.HeldError{Holder: h},
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
	return &Failure{
		Exit: ExitRefused, Err: &daemon.HeldError{Holder: h},
		Sentence: fmt.Sprintf("the store %s is held by %s", dir, who),
		Fix:      "wait until that process has ended, or end it; or " + other,
	}
}

// secondHub returns the command line that starts a hub at the address, without
// --storage.
func secondHub(command string, a address) string {
	flags := ""
	if a.host != defaultHost {
		flags = " --host " + a.host
	}
	if !a.loopback() {
		flags += " --allow-remote"
	}
	return command + flags + " --port " + strconv.Itoa(a.port)
}

// daemonArgs are the root flags of the daemon to start.
func (o *startOptions) daemonArgs(cmd *cobra.Command) ([]string, error) {
	args := []string{
		"--host", o.host, "--port", strconv.Itoa(o.port),
		"--storage", o.storage.path, "--" + logFileFlag, daemon.LogPath(o.storage.path),
		"--max-body-chars", strconv.Itoa(o.MaxBodyChars),
		"--max-attachment-chars", strconv.Itoa(o.MaxAttachmentChars),
		"--max-attachments", strconv.Itoa(o.MaxAttachments),
	}
	if cmd.Flags().Changed("spool-dir") {
		dir, err := absolute("--spool-dir", o.spool.dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--spool-dir", dir)
	} else if here, err := filepath.Abs(defaultSpoolDir); err == nil { // the daemon has another current folder
		args = append(args, "--"+spoolHereFlag, here)
	}
	for flag, on := range map[string]bool{
		"--allow-remote": o.allowRemote, "--quiet": o.quiet, "--adopt": o.adopt, "--no-auto-rooms": o.noAutoRooms, "--auto-ensure-adapters": o.autoEnsureAdapters,
	} {
		if on {
			args = append(args, flag)
		}
	}
	return args, nil
}

// serviceArgs are the arguments of a daemon that a service manager starts: what was
// not given keeps its default, also in later versions.
func (o *startOptions) serviceArgs(cmd *cobra.Command) ([]string, error) {
	all, err := o.daemonArgs(cmd)
	if err != nil {
		return nil, err
	}
	var args []string
	for i := 0; i < len(all); i++ {
		if strings.HasPrefix(all[i], "--max-") || all[i] == "--"+spoolHereFlag {
			i++
			continue
		}
		args = append(args, all[i])
	}
	return args, nil
}

// noteOptions tells which options that were given differ from the running hub's.
func (o *startOptions) noteOptions(env *Env, cmd *cobra.Command, i hub.Info) {
	var differ []string
	for _, each := range []struct {
		flag       string
		want, have any
	}{
		{"allow-remote", o.allowRemote, i.AllowRemote},
		{"no-auto-rooms", o.noAutoRooms, !slices.Contains(i.Features, hub.FeatureAutoRooms)},
		{"max-body-chars", o.MaxBodyChars, i.MaxBodyChars},
		{"max-attachment-chars", o.MaxAttachmentChars, i.MaxAttachmentChars},
		{"max-attachments", o.MaxAttachments, i.MaxAttachments},
	} {
		if cmd.Flags().Changed(each.flag) && each.have != each.want {
			differ = append(differ, fmt.Sprintf("--%s is %v", each.flag, each.have))
		}
	}
	if len(differ) > 0 {
		env.note("the running hub has other options: %s; they change when it is stopped and started", strings.Join(differ, ", "))
	}
}
