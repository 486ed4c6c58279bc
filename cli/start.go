package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Of waiting for a hub.
const (
	probeEvery   = 50 * time.Millisecond
	patienceNote = 3 * time.Second // then say what is waited for
	droppedLong  = 3 * time.Second // then what drops connections is no hub
	heldLong     = 5 * time.Second // then a silent holder of the store is not about to end
)

// starter brings up one hub, however many starters run at once.
//
// The starter that holds the lock file may start a daemon. All starters then
// probe the address until a hub of the right store answers. The daemon settles
// the rest by itself: only one process can bind the port and only one can take
// the store.
type starter struct {
	env     *Env
	addr    address
	storage string
	explain bool // --storage was given: another store is an error, not a warning
	timeout time.Duration
	daemon  []string // arguments of the daemon
	want    []option // options the caller gave, compared with a running hub's

	lock    *os.File
	child   *daemon.Child
	began   time.Time
	dropped time.Time // since when connections are dropped; zero: they are not
	noted   bool

	holder   StoreHolder // the holder of the store at the last look
	saidHeld bool
}

// option is one setting of a hub that hub-info shows.
type option struct {
	flag string
	want any
	have func(hub.Info) any
}

// started is a hub that runs.
type started struct {
	BaseURL     string         `json:"base_url"`
	Started     bool           `json:"started"` // by this call
	StoragePath string         `json:"storage_path"`
	InstanceID  hub.InstanceID `json:"instance_id"`
	Version     string         `json:"version"`
	PID         int            `json:"pid,omitempty"` // of the daemon this call started
}

// run returns once a hub answers, or says why none does.
func (s *starter) run(ctx context.Context) (started, error) {
	s.began = s.env.Now()
	s.env.unmarkStopped(s.addr)
	defer s.release()
	for {
		found := daemon.Probe(ctx, s.addr.baseURL())
		if ctx.Err() != nil {
			return started{}, context.Cause(ctx)
		}
		switch done, err := s.look(ctx, found); {
		case err != nil:
			return started{}, err
		case done:
			return s.adopt(ctx, found.Info)
		}
		if err := s.overdue(ctx, found); err != nil {
			return started{}, err
		}
		select {
		case <-ctx.Done():
			return started{}, context.Cause(ctx)
		case <-time.After(probeEvery):
		}
	}
}

// look acts on what was found; done means that a hub answers.
func (s *starter) look(ctx context.Context, found daemon.Probed) (done bool, err error) {
	if found.Kind != daemon.Dropped {
		s.dropped = time.Time{}
	} else if s.dropped.IsZero() {
		s.dropped = s.env.Now()
	}
	foreign := found.Kind == daemon.Foreign || found.Kind == daemon.Dropped && s.env.Now().Sub(s.dropped) > droppedLong
	switch {
	case found.Kind == daemon.Hub:
		return true, nil
	case foreign:
		return false, fail(ExitUnreachable, "give the hub another port with --port, or stop the program that has this one",
			"port %d is held by another program", s.addr.port)
	case s.child != nil:
		return false, s.childAlive(found)
	case found.Kind == daemon.Absent:
		return false, s.tryStart(ctx)
	}
	return false, nil
}

// tryStart starts the daemon if this caller gets the lock and, holding it, still
// finds nothing: the one who had it before may have started a hub.
func (s *starter) tryStart(ctx context.Context) error {
	if s.lock == nil {
		got, err := s.takeLock()
		if err != nil || !got {
			return err
		}
	}
	if daemon.Probe(ctx, s.addr.baseURL()).Kind != daemon.Absent {
		return nil
	}
	if wait, err := s.waitForStore(ctx); wait || err != nil {
		return err
	}
	exe, err := s.env.Executable()
	if err == nil {
		s.child, err = daemon.StartChild(exe, s.daemon)
	}
	if err != nil {
		return &Failure{
			Exit: ExitStore, Err: err,
			Sentence: fmt.Sprintf("the daemon cannot be started: %v", err),
			Fix:      "run the hub in the foreground: hubcli " + strings.Join(s.daemon, " "),
		}
	}
	return nil
}

// takeLock tries the lock file of this store. It lies in the data root: inside
// the store it would be in the way of making one.
func (s *starter) takeLock() (bool, error) {
	dir, err := s.env.makeDataRoot("run")
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256([]byte(s.storage))
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
		return false, &Failure{
			Exit: ExitStore, Err: err,
			Sentence: fmt.Sprintf("the lock of ensure cannot be taken: %v", err),
			Fix:      "set HUB_DATA_ROOT to a folder that you may write to",
		}
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

// childAlive reports how the daemon that this caller started ended, if it did. One
// that has lost the port to another daemon leaves it to that one, which may still
// be coming up in silence.
func (s *starter) childAlive(found daemon.Probed) error {
	exit, ended := s.child.Ended()
	if !ended || found.Kind == daemon.Silent && exit == ExitUnreachable {
		return nil
	}
	// It may have lost a race against a hub that answers by now.
	if daemon.Probe(context.Background(), s.addr.baseURL()).Kind == daemon.Hub {
		return nil
	}
	return s.childFailure(exit)
}

// childFailure says why the daemon that this caller started ended.
func (s *starter) childFailure(exit int) *Failure {
	sentence, fix := s.child.LastWords()
	if sentence == "" {
		sentence = fmt.Sprintf("the daemon ended with exit code %d before it was ready", exit)
		fix = "run the hub in the foreground to see why: hubcli " + strings.Join(s.daemon, " ")
	}
	if exit <= 0 {
		exit = ExitStore
	}
	return &Failure{Exit: exit, Sentence: sentence, Fix: fix}
}

// overdue ends the wait when its time is over, and says once what is waited for.
func (s *starter) overdue(ctx context.Context, found daemon.Probed) error {
	waited := s.env.Now().Sub(s.began)
	if waited < s.timeout {
		if waited > patienceNote && !s.noted {
			s.noted = true
			s.env.note("waiting for a hub to answer at %s", s.addr.baseURL())
		}
		return nil
	}
	if s.child != nil {
		if exit, ended := s.child.Ended(); ended {
			return s.childFailure(exit)
		}
		return fail(ExitWaitOver, "wait with a longer --timeout, or look into "+logPath(s.storage),
			"the hub was started but is not ready after %s; it goes on starting", s.timeout)
	}
	if s.lock != nil && found.Kind == daemon.Absent {
		f := s.heldFailure(ctx)
		f.Exit = ExitWaitOver
		return f
	}
	if found.Kind == daemon.Absent {
		return fail(ExitWaitOver, "run the same command again",
			"another ensure is starting the hub, which is not ready after %s", s.timeout)
	}
	return fail(ExitWaitOver, "give the hub another port with --port, or see what holds this one",
		"what listens on port %d did not answer within %s", s.addr.port, s.timeout)
}

// adopt checks that the hub that answers is the one that was asked for.
func (s *starter) adopt(ctx context.Context, info hub.Info) (started, error) {
	got := started{
		BaseURL: s.addr.baseURL(), StoragePath: info.StoragePath,
		InstanceID: info.InstanceID, Version: info.ImplementationVersion,
	}
	if !sameStore(info.StoragePath, s.storage) {
		if s.explain {
			return started{}, s.otherStore(ctx, info)
		}
		s.env.note("the hub at %s serves another store than the default: %s", s.addr.baseURL(), info.StoragePath)
	} else if id, err := client.StoreInstance(s.storage); err == nil && id != info.InstanceID {
		return started{}, fail(ExitRefused, "stop that hub, or see what has replaced the store",
			"the hub at %s serves another store than the one that lies in %s now", s.addr.baseURL(), s.storage)
	}
	if s.child != nil && s.won(ctx) {
		got.Started, got.PID = true, s.child.PID()
		return got, nil
	}
	var differ []string
	for _, o := range s.want {
		if have := o.have(info); have != o.want {
			differ = append(differ, fmt.Sprintf("--%s is %v", o.flag, have))
		}
	}
	if len(differ) > 0 {
		s.env.note("the running hub has other options: %s; they change when it is stopped and started", strings.Join(differ, ", "))
	}
	return got, nil
}

// won reports whether the hub that answers is the daemon of this caller, not one
// that was quicker to take the port.
func (s *starter) won(ctx context.Context) bool {
	c := client.New(client.Config{BaseURL: s.addr.baseURL(), Timeout: daemon.ProbeTimeout})
	defer c.Close()
	status, err := c.AppStatus(ctx)
	if err != nil {
		// A hub that listens beyond loopback alone does not say.
		_, ended := s.child.Ended()
		return !ended
	}
	return status.PID == s.child.PID()
}

func otherStore(a address, running, asked string) *Failure {
	return fail(ExitRefused, "name the hub's own store with --storage, or its address with --host and --port",
		"the hub at %s serves the store %s, not %s", a.baseURL(), running, asked)
}

// otherStore is the failure of that name, which says besides where the store that
// was asked for is served, if it is.
func (s *starter) otherStore(ctx context.Context, running hub.Info) error {
	err := otherStore(s.addr, running.StoragePath, s.storage)
	if s.env.InspectStore == nil {
		return err
	}
	if asked, ierr := s.env.InspectStore(s.storage); ierr == nil && asked.Held {
		if url, ok := asked.Holder.servesAt(ctx, s.storage); ok {
			err.Fix = fmt.Sprintf("the hub at %s (process %d) serves that store: use it with --base-url %[1]s", url, asked.Holder.PID)
		}
	}
	return err
}

func logPath(storage string) string { return filepath.Join(storage, "hub.log") }
