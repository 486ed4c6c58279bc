package adapter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// verification returns the results so far of the last verification of a
// harness.
func (a *Adapters) verification(h hub.Harness) *hub.AdapterVerification {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, ok := a.verified[h]
	if !ok {
		return nil
	}
	shown := *v
	shown.Checks = slices.Clone(v.Checks)
	return &shown
}

// unverify forgets what an earlier verification has found: it was about another
// installation. One that is under way goes on.
func (a *Adapters) unverify(h hub.Harness) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if v := a.verified[h]; v != nil && !v.Running {
		delete(a.verified, h)
	}
}

// VerifyAdapter tries the installed entries. A failure is a check in the
// result, not an error.
func (a *Adapters) VerifyAdapter(ctx context.Context, harness hub.Harness, in hub.AdapterInput) (hub.AdapterVerification, error) {
	return outside(ctx, a, "verify "+string(harness), hub.MaxAdapterVerify+verifyLate, func(ctx context.Context) (hub.AdapterVerification, error) {
		owners, err := a.toTry(ctx, harness, in)
		if err != nil {
			return hub.AdapterVerification{}, err
		}
		if err := a.begin(harness); err != nil {
			return hub.AdapterVerification{}, err
		}
		return a.try(ctx, harness, owners, in.SearchPath), nil
	})
}

// try makes the trials. It always ends the verification, because otherwise no
// other could begin.
func (a *Adapters) try(ctx context.Context, harness hub.Harness, owners []files.Owner, search string) (found hub.AdapterVerification) {
	defer func() { found = a.finish(harness) }()
	ctx, cancel := context.WithTimeout(ctx, hub.MaxAdapterVerify)
	defer cancel()
	for _, owner := range owners {
		t := &trial{Adapters: a, owner: owner, harness: harness, search: search}
		t.run(ctx)
	}
	return found
}

// toTry returns the places to try: the named one, or all with installed
// entries, or the global scope if there are none.
func (a *Adapters) toTry(ctx context.Context, harness hub.Harness, in hub.AdapterInput) ([]files.Owner, error) {
	if in.Scope != "" || in.Path != "" {
		_, _, owner, err := a.where(harness, in)
		return []files.Owner{owner}, err
	}
	r, err := find(harness)
	if err != nil {
		return nil, err
	}
	installed, err := a.installed(ctx)
	if err != nil {
		return nil, hub.NewError(hub.CodeAdapterRefused, err.Error()).WithFix("see the folder adapters in the data root")
	}
	installed = slices.DeleteFunc(installed, func(o files.Owner) bool { return o.Harness != harness })
	if len(installed) == 0 {
		return []files.Owner{{Harness: harness, Scope: files.Scope(r.scopes()[0])}}, nil
	}
	return installed, nil
}

// begin starts a verification. Each harness has at most one at a time.
func (a *Adapters) begin(harness hub.Harness) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if v := a.verified[harness]; v != nil && v.Running {
		return hub.NewError(hub.CodeAdapterBusy, "the adapter is being verified already").WithRetryAfter(5).
			WithFix("wait until the verification has ended; hubcli adapter status " + string(harness) + " shows it")
	}
	a.verified[harness] = &hub.AdapterVerification{
		Harness: harness, Running: true, StartedAt: hub.TimeOf(a.config.Now()), Checks: []hub.AdapterCheck{},
	}
	return nil
}

// finish ends a verification and returns it. A change of the adapter may drop it right after.
func (a *Adapters) finish(harness hub.Harness) hub.AdapterVerification {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.verified[harness]
	at := hub.TimeOf(a.config.Now())
	v.Running, v.EndedAt = false, &at
	v.OK = !slices.ContainsFunc(v.Checks, func(c hub.AdapterCheck) bool { return c.Status == hub.CheckFailed })
	return *v
}

// trial tries one installation.
type trial struct {
	*Adapters
	owner   files.Owner
	harness hub.Harness
	entry   Entry       // the entry that an install would write now
	search  string      // the caller's PATH; empty: that of the hub alone
	known   hub.AgentID // the agent that the bridge has registered; empty: none
}

// note adds a check to the result.
func (t *trial) note(name string, status hub.CheckStatus, detail, fix string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.verified[t.harness]
	v.Checks = append(v.Checks, hub.AdapterCheck{
		Scope: hub.AdapterScope(t.owner.Scope), Path: t.owner.Path, Check: name, Status: status, Detail: detail, Fix: fix,
		MS: float64(took.Microseconds()) / 1000,
	})
}

func (t *trial) passed(name, detail string, took time.Duration) {
	t.note(name, hub.CheckPassed, detail, "", took)
}

func (t *trial) failed(name string, err error, fix string) {
	t.note(name, hub.CheckFailed, err.Error(), fix, 0)
}

func (t *trial) skipped(name, why string) { t.note(name, hub.CheckSkipped, why, "", 0) }

// way returns the command line for an action on the tried installation.
func (t *trial) way(action string) string { return commandOf(action, t.owner) }

// run makes all checks of one installation.
func (t *trial) run(ctx context.Context) {
	if gone(t.owner) {
		t.skipped("files", "the folder is gone; to forget it: "+t.way("uninstall"))
		return
	}
	r, _ := rowOf(t.harness)
	s := t.present(ctx, r.setup(hub.AdapterScope(t.owner.Scope)), t.owner)
	entry, err := t.today()
	if err != nil {
		t.failed("executable", err, "install hubcli at a lasting path on PATH, and start the hub from there")
		return
	}
	if err := trusted(entry.Command); err != nil {
		t.failed("executable", err, "keep hubcli in a folder that only you can write")
		return
	}
	t.passed("executable", entry.Command, 0)
	t.entry = entry
	all, err := t.wants(s, t.owner, entry, keepGrant)
	if err != nil {
		t.failed("files", err, "")
		return
	}
	dir, err := os.MkdirTemp("", "adapter-verify-")
	if err != nil {
		t.failed("files", err, "see that there is room for temporary files")
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // a rest in the system's temporary folder does no harm
	agent := hub.AgentID(hub.TrialPrefix + nonce(4))
	for _, w := range all {
		if w.part == hub.PartPermissions {
			t.checkPermissions(ctx, w, all)
			continue
		}
		if w.part == hub.PartPlugin && t.part(ctx, w, nil).State == hub.AdapterAbsent {
			continue // nobody has asked for it
		}
		if !t.stands(ctx, w) {
			continue
		}
		switch w.part {
		case hub.PartMCP:
			t.tryBridge(ctx, w, agent, dir)
			t.tryHarness(ctx, r, w, agent+"-h", dir)
		case hub.PartHooks:
			t.tryHooks(ctx, w, agent, dir)
		case hub.PartInstructions, hub.PartPermissions, hub.PartPlugin:
		}
	}
	switch why := wakeless(r, s); {
	case s.repo: // nobody is to be woken
	case why != "":
		t.skipped("background wake", why)
	case r.harness.Facts().Queues:
		t.skipped("background wake", queued(r))
	default:
		t.tryWatch(ctx, entry, agent, dir)
	}
	for _, line := range s.followUps {
		t.note("by you", hub.CheckPending, line, "", 0)
	}
}

// stands checks a part's files and reports whether the part may be tried. The
// files hold exactly the entries that the hub would write, and the trial runs
// these. It does not read the files again, so nobody can replace an entry
// between the check and the run.
func (t *trial) stands(ctx context.Context, w wanted) bool {
	part := t.part(ctx, w, nil)
	name := string(w.part) + " in place"
	switch {
	case part.State == hub.AdapterInstalled && part.Outdated && part.Reason != "":
		t.failed(name, errors.New(part.Reason), t.way("repair"))
	case part.State == hub.AdapterInstalled && part.Outdated:
		t.failed(name, errors.New("the entry is outdated: the executable or the address has moved"), t.way("repair"))
	case part.State == hub.AdapterInstalled:
		if err := t.skipsAny(w); err != nil {
			t.failed(name, err, strictFix)
			return false
		}
		t.passed(name, part.Files[0], 0)
		return true
	case part.State == hub.AdapterAbsent:
		t.failed(name, errors.New("the part is not installed"), t.way("install"))
	case part.State == hub.AdapterUnreadable:
		t.failed(name, errors.New(part.Reason), "correct the file, then: "+t.way("repair"))
	default:
		t.failed(name, errors.New(part.Reason), t.way("repair"))
	}
	// An entry that somebody else wrote is not run: it may do anything.
	return false
}

// checkPermissions says whether the harness asks before it calls a tool of the
// hub. Without permissions nothing is wrong.
func (t *trial) checkPermissions(ctx context.Context, w wanted, all []wanted) {
	const name = "permissions in place"
	switch part := t.part(ctx, w, all); part.State {
	case hub.AdapterInstalled:
		if err := t.skipsAny(w); err != nil {
			t.failed(name, err, strictFix)
			return
		}
		t.passed(name, part.Files[0], 0)
	case hub.AdapterAbsent:
		t.skipped(name, "not installed: the harness asks before it calls a tool of the hub; to allow them: "+t.way("install"))
	default:
		t.failed(name, errors.New(part.Reason), t.way("repair"))
	}
}

// tryBridge starts the installed entry and measures a wake.
func (t *trial) tryBridge(ctx context.Context, w wanted, agent hub.AgentID, dir string) {
	last := w.entries[len(w.entries)-1] // of a plugin's files, the one with its servers
	l, err := launchOf(last.Value)
	if err != nil {
		t.failed("entry", err, t.way("repair"))
		return
	}
	// Variables that somebody added are not used: they may do anything.
	l.env = map[string]string{"HUB_AGENT": string(agent)}
	for _, m := range t.entry.env() {
		l.env[m.name] = fmt.Sprint(m.value)
	}
	p, err := l.start(ctx, dir, environment(t.config.World.Getenv, l.env))
	if err != nil {
		t.failed("bridge", err, "see that this starts and answers: "+shellWord(l.command)+" mcp")
		return
	}
	defer p.end()
	t.passed("bridge", fmt.Sprintf("it lists %d tools", p.tools), p.took)
	acts, since, err := p.whoami(ctx)
	var took time.Duration
	if err == nil {
		t.known = acts
		took, err = p.wake(ctx, t.config.Hub, canary{from: agent + "-canary", to: acts, nonce: nonce(8)}, since)
	}
	if err != nil {
		t.failed("wake", err, "see that the hub answers at the address of the entry, and its log in the data root")
		return
	}
	t.passed("wake", "from a message to the answer of hub_poll_messages", took)
	if took, err = p.write(ctx, "adapter-verify-"+nonce(4)); err != nil {
		t.failed("tool calls", err, "see that the hub takes writes, and its log in the data root")
		return
	}
	t.passed("tool calls", "hub_whoami reads; hub_claim writes and hub_release takes it back", took)
}

// tryWatch measures the wake of a background process.
func (t *trial) tryWatch(ctx context.Context, entry Entry, agent hub.AgentID, dir string) {
	const name = "background wake"
	if t.known == "" {
		t.skipped(name, "the bridge, whose agent would be waited for, did not come up")
		return
	}
	k := canary{from: t.known, to: agent + "-w", nonce: nonce(8)}
	argv := []string{
		entry.Command, "watch", "--agent", string(k.to), "--until", "message-from:" + string(k.from), "--timeout", "8s",
	}
	if room := t.room(ctx); room != "" {
		argv = append(argv, "--room", string(room))
	}
	if entry.BaseURL != "" {
		argv = append(argv, "--base-url", entry.BaseURL)
	}
	type end struct {
		got answered
		err error
		at  time.Time
	}
	ended := make(chan end, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		got, err := tried(ctx, 10*time.Second, argv, dir, environment(t.config.World.Getenv, nil), "")
		ended <- end{got, err, time.Now()}
	}()
	select {
	case <-time.After(2 * parkAfter):
	case e := <-ended:
		t.failed(name, errors.Join(fmt.Errorf("the watch ended at once: %s", firstLine(e.got.stdout+e.got.stderr)), e.err), "")
		return
	}
	sent := time.Now()
	if err := k.post(ctx, t.config.Hub); err != nil {
		cancel()
		<-ended
		t.failed(name, err, "see that the hub takes writes")
		return
	}
	e := <-ended
	switch {
	case e.err != nil:
		t.failed(name, e.err, "")
	case e.got.exit != 0:
		t.failed(name, fmt.Errorf("the watch ended with exit code %d: %s", e.got.exit, firstLine(e.got.stdout)), "")
	default:
		t.passed(name, "from a message to the end of hubcli watch", e.at.Sub(sent))
	}
}

// room returns a room to watch: the project's, else any.
func (t *trial) room(ctx context.Context) hub.RoomID {
	if t.owner.Path != "" {
		if found, err := t.config.Hub.Resolve(ctx, t.owner.Path); err == nil && found.RoomID != nil {
			return *found.RoomID
		}
	}
	rooms, _, err := t.config.Hub.Rooms(ctx, hub.RoomsQuery{Limit: 1})
	if err != nil || len(rooms) == 0 {
		return ""
	}
	return rooms[0].RoomID
}

// nonce is n random bytes in hexadecimal.
func nonce(n int) string {
	b := make([]byte, n)
	// crypto/rand.Read never fails: it ends the program instead.
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
