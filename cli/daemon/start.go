package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/internal/peertext"
)

// ProbeEvery is how often the address of an awaited hub is looked at.
const ProbeEvery = 50 * time.Millisecond

// Of waiting for a hub.
const (
	patienceNote = 3 * time.Second // then print the reason of the wait
	droppedLong  = 3 * time.Second // then the process that drops connections is not a hub
	heldLong     = 5 * time.Second // then a silent holder of the store does not count as ending
)

// Machine is what this package needs to know of the machine and of its caller. All
// but Inspect are required.
type Machine struct {
	Root       func() (string, error) // the data root; nothing is created
	Now        func() time.Time
	Executable func() (string, error) // of the daemon
	// Inspect looks at a store folder without changing it. If it is nil, nothing is
	// known of stores.
	Inspect func(dir string) (StoreInfo, error)
	Note    func(format string, args ...any) // tells people what happens meanwhile
}

// Request is the hub that a caller of Start wants.
type Request struct {
	BaseURL string
	Storage string // folder of the store
	Exact   bool   // a hub of another store is an error; otherwise a remark
	Timeout time.Duration
	Args    []string // of the daemon
}

// Started is a hub that runs.
type Started struct {
	Info hub.Info
	PID  int // of the daemon if this call has started it; else 0
}

// Why is the reason for which no hub answers.
type Why int

// The reasons, and which fields of a StartError they fill.
const (
	PortTaken     Why = iota // another program has the port: Err, if it has the port of a hub of this user
	NotProved                // a hub answers, and none of this user has ever served at the address
	EarlierHub               // the hub that serves the store answers, and is of an earlier version: Holder
	OthersHub                // the hub of another user of the machine answers: Owner
	PortMute                 // what has the port did not answer in time
	RootNotMade              // the data root cannot be made: Err
	LockFailed               // the lock of the starters cannot be taken: Err
	CannotRun                // the daemon cannot be run: Err
	Died                     // the daemon ended: Exit, Sentence, Fix
	NotReady                 // the daemon goes on starting after the timeout
	NotMine                  // another starter's daemon goes on starting
	StoreHeld                // another process has the store: Holder, Late
	OtherStore               // the hub at the address has another store: Running; Holder and URL if known
	StoreReplaced            // the hub at the address has the store that lay in the folder before
)

// StartError says why no hub answers.
type StartError struct {
	Why  Why
	Err  error
	Exit int // -1 is a signal

	Sentence, Fix string // the daemon's last words; empty: it left none

	Owner   string // whose hub it is
	Holder  Holder
	Late    bool   // the timeout is over
	Running string // store of the hub at the address
	URL     string // where a hub serves the store that was asked for
}

func (e *StartError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return "no hub answers"
}

func (e *StartError) Unwrap() error { return e.Err }

// starter brings up one hub, however many starters run at once.
//
// The starter that holds the lock file may start a daemon. All starters then
// probe the address until a hub of the right store answers. The daemon settles
// the rest by itself: only one process can bind the port and only one can take
// the store.
type starter struct {
	*Machine
	Request

	lock    *os.File
	child   *Child
	began   time.Time
	dropped time.Time // time since which connections are dropped; zero: they are not
	noted   bool

	holder   Holder // the holder of the store at the last look
	saidHeld bool
}

// Start returns once a hub answers. The error is a *StartError, one of Root or of the
// context.
func (m *Machine) Start(ctx context.Context, r Request) (Started, error) {
	s := &starter{Machine: m, Request: r, began: m.Now()}
	m.unmarkStopped(r.BaseURL)
	defer s.release()
	for {
		found := Probe(ctx, r.BaseURL)
		if ctx.Err() != nil {
			return Started{}, context.Cause(ctx)
		}
		found = m.Recognize(ctx, r.BaseURL, r.Storage, found)
		switch done, err := s.look(ctx, found); {
		case err != nil:
			return Started{}, err
		case done:
			return s.adopt(ctx, found.Info)
		}
		if err := s.overdue(found); err != nil {
			return Started{}, err
		}
		select {
		case <-ctx.Done():
			return Started{}, context.Cause(ctx)
		case <-time.After(ProbeEvery):
		}
	}
}

// look acts on the result of a probe; done means that a hub answers.
func (s *starter) look(ctx context.Context, found Probed) (done bool, err error) {
	if found.Kind != Dropped {
		s.dropped = time.Time{}
	} else if s.dropped.IsZero() {
		s.dropped = s.Now()
	}
	foreign := found.Kind == Foreign || found.Kind == Dropped && s.Now().Sub(s.dropped) > droppedLong
	if pid := s.Earlier(s.BaseURL, s.Storage, found); pid != 0 {
		return false, &StartError{Why: EarlierHub, Holder: Holder{PID: pid}}
	}
	switch {
	case found.Kind == Others, found.Kind == Hub && found.Owner != "":
		return false, &StartError{Why: OthersHub, Owner: found.Owner, Err: found.Err}
	case found.Kind == Hub && !found.Proved:
		return false, &StartError{Why: NotProved}
	case found.Kind == Hub:
		return true, nil
	case found.Kind == Impostor:
		return false, &StartError{Why: PortTaken, Err: found.Err}
	case foreign:
		return false, &StartError{Why: PortTaken}
	case s.child != nil:
		return false, s.childAlive(found)
	case found.Kind == Absent:
		return false, s.tryStart(ctx)
	}
	return false, nil
}

// tryStart starts the daemon if this process gets the lock and then still finds
// no hub: the previous holder of the lock may have started one.
func (s *starter) tryStart(ctx context.Context) error {
	if s.lock == nil {
		got, err := s.takeLock()
		if err != nil || !got {
			return err
		}
	}
	if Probe(ctx, s.BaseURL).Kind != Absent {
		return nil
	}
	if wait, err := s.waitForStore(ctx); wait || err != nil {
		return err
	}
	root, err := s.Root()
	if err != nil {
		return err
	}
	exe, err := s.Executable()
	if err == nil {
		s.child, err = StartChild(exe, s.Args, root)
	}
	if err != nil {
		return &StartError{Why: CannotRun, Err: err}
	}
	return nil
}

// takeLock tries the lock file of this store. The file is in the data root,
// because a store is made only in an empty folder.
func (s *starter) takeLock() (bool, error) {
	root, err := s.Root()
	if err != nil {
		return false, err
	}
	dir := filepath.Join(root, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, &StartError{Why: RootNotMade, Err: err}
	}
	sum := sha256.Sum256([]byte(s.Storage))
	path := filepath.Join(dir, "ensure-"+hex.EncodeToString(sum[:8])+".lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		var got bool
		if got, err = osfile.TryLock(f); got {
			s.lock = f
			return true, nil
		}
		f.Close()
	}
	if err != nil {
		return false, &StartError{Why: LockFailed, Err: err}
	}
	return false, nil
}

func (s *starter) release() {
	if s.lock != nil {
		s.lock.Close()
	}
	if s.child != nil {
		s.child.Forget()
	}
}

// waitForStore reports whether another process has the store that may let go of it: a
// hub that stops, or one that starts and will say soon where it serves. A hub that
// serves it elsewhere keeps it, which is an error at once.
func (s *starter) waitForStore(ctx context.Context) (wait bool, err error) {
	if s.Inspect == nil {
		return false, nil
	}
	info, err := s.Inspect(s.Storage)
	if err != nil || !info.Held {
		return false, nil // the daemon will report what is wrong with it
	}
	s.holder = info.Holder
	_, serves := info.Holder.ServesAt(ctx, s.Storage)
	if serves && Probe(ctx, s.BaseURL).Kind == Hub {
		return true, nil // it has come up meanwhile; the next look will find it
	}
	silent := info.Holder.PID == 0 && s.Now().Sub(s.began) > heldLong
	if serves || silent {
		return false, s.storeHeld(false)
	}
	s.sayWaiting()
	return true, nil
}

func (s *starter) storeHeld(late bool) error {
	return &StartError{Why: StoreHeld, Err: &HeldError{s.holder}, Holder: s.holder, Late: late}
}

// sayWaiting tells once which process has to let go of the store first.
func (s *starter) sayWaiting() {
	if s.saidHeld {
		return
	}
	s.saidHeld = true
	if s.holder.PID == 0 {
		s.Note("waiting: another process has the store %s open", peertext.TerminalLine(s.Storage))
		return
	}
	s.Note("waiting: process %d has the store %s open and does not answer; it is stopping or starting", s.holder.PID, peertext.TerminalLine(s.Storage))
}

// childAlive returns an error if the daemon of this process has ended. If it
// lost the port to another daemon, that one may still be starting, and there is
// no error yet.
func (s *starter) childAlive(found Probed) error {
	exit, ended := s.child.Ended()
	lostPort := exit == hub.InfoOf(hub.CodeUnreachable).Exit
	if !ended || found.Kind == Silent && lostPort {
		return nil
	}
	// It may have lost the port to a hub that answers by now, or that starts.
	switch now := Probe(context.Background(), s.BaseURL).Kind; {
	case now == Hub, now == Others, now == Silent && lostPort:
		return nil
	}
	return s.died(exit)
}

// died says why the daemon that this caller started ended.
func (s *starter) died(exit int) error {
	sentence, fix := s.child.LastWords()
	return &StartError{Why: Died, Exit: exit, Sentence: sentence, Fix: fix}
}

// overdue ends the wait when its time is over, and prints once the reason of
// the wait.
func (s *starter) overdue(found Probed) error {
	waited := s.Now().Sub(s.began)
	if waited < s.Timeout {
		if waited > patienceNote && !s.noted {
			s.noted = true
			s.Note("waiting for a hub to answer at %s", s.BaseURL)
		}
		return nil
	}
	switch {
	case s.child != nil:
		if exit, ended := s.child.Ended(); ended {
			return s.died(exit)
		}
		return &StartError{Why: NotReady}
	case s.lock != nil && found.Kind == Absent:
		return s.storeHeld(true)
	case found.Kind == Absent:
		return &StartError{Why: NotMine}
	}
	return &StartError{Why: PortMute}
}

// adopt checks that the hub that answers has the wanted store and options.
func (s *starter) adopt(ctx context.Context, info hub.Info) (Started, error) {
	got := Started{Info: info}
	if !SameStore(info.StoragePath, s.Storage) {
		if s.Exact {
			return got, s.otherStore(ctx, info)
		}
		s.Note("the hub at %s serves another store than the default: %s", s.BaseURL, info.StoragePath)
	} else if id, err := client.StoreInstance(s.Storage); err == nil && id != info.InstanceID {
		return got, &StartError{Why: StoreReplaced}
	}
	if s.child != nil && s.won(ctx) {
		got.PID = s.child.PID()
	}
	return got, nil
}

// won reports whether the hub that answers is the daemon of this process, not
// another that took the port first.
func (s *starter) won(ctx context.Context) bool {
	c := client.New(client.Config{BaseURL: s.BaseURL, Timeout: ProbeTimeout})
	defer c.Close()
	status, err := c.AppStatus(ctx)
	if err != nil {
		// A hub that listens beyond loopback does not give its process id.
		_, ended := s.child.Ended()
		return !ended
	}
	return status.PID == s.child.PID()
}

// otherStore says where the store that was asked for is served, if it is.
func (s *starter) otherStore(ctx context.Context, running hub.Info) error {
	err := &StartError{Why: OtherStore, Running: running.StoragePath}
	if s.Inspect == nil {
		return err
	}
	if asked, ierr := s.Inspect(s.Storage); ierr == nil && asked.Held {
		if url, ok := asked.Holder.ServesAt(ctx, s.Storage); ok {
			err.Holder, err.URL = asked.Holder, url
		}
	}
	return err
}
