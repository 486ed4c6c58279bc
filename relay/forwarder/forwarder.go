package forwarder

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/bounded"
	"hubcli/internal/pause"
)

// Defaults of the configuration, and its bounds.
const (
	DefaultPollInterval   = 250 * time.Millisecond
	DefaultRequestTimeout = 30 * time.Second

	MinPollInterval   = 10 * time.Millisecond
	MaxPollInterval   = time.Minute
	MinRequestTimeout = time.Second
	MaxRequestTimeout = 10 * time.Minute
)

// Bounds of the work that goes on at once.
const (
	maxCalls       = 8              // of one folder
	maxParked      = 4              // of maxCalls, those that wait in the hub
	maxWaiting     = 64             // calls of one folder that wait for a place among maxParked
	maxCallsInAll  = 8192           // of all folders; fewer if the process may open few files
	maxFolders     = 4096           // agents that one spool serves
	smallRequest   = 128 << 10      // bytes; a lease with all its metadata is less
	maxLargeInAll  = 64 << 20       // bytes of all requests above smallRequest
	smallAnswer    = 128 << 10      // bytes
	maxKeptInAll   = maxAnswerBytes // bytes of all answers above smallAnswer
	stopPatience   = 2 * time.Second
	answerMargin   = 5 * time.Second // time between the end of a wait in the hub and the request's timeout
	maxRequestAge  = time.Hour
	absentInterval = time.Second            // between two looks for a spool that is not there
	waitInterval   = 30 * time.Second       // the same, while the system is asked to tell of it
	quietAfter     = 30 * time.Second       // after the last call
	quietInterval  = 2 * time.Second        // between two looks then, at a spool of which notification tells
	fullInterval   = 2 * time.Second        // between two readings of a folder that seems unchanged
	quickInterval  = 10 * time.Millisecond  // between two readings of a folder whose last request no notification announced
	quickFor       = time.Second            // after such a request
	quickFolders   = 4                      // read so often at a time
	clockGrain     = 100 * time.Millisecond // coarsest clock for change times on a local file system
)

// Config says what a Forwarder serves. Dir and BaseURL are required.
type Config struct {
	// Dir is the spool. It may come, go and be replaced while the forwarder runs.
	Dir string
	// Create makes the folders of the spool if they are missing. Otherwise the
	// forwarder waits until somebody has made Dir.
	Create bool
	// Accept says whether the spool may be served at all; nil: it may, with all that is
	// in it.
	Accept *Acceptance
	// BaseURL is the hub's address, as client.CheckBaseURL wants it.
	BaseURL string
	// DataRoot is the folder in which the hubs of this user are noted; empty is that of the
	// environment. A hub that is noted there has to prove itself before a request is sent.
	DataRoot string
	// Owner makes the forwarder serve the spool only while no other hub does. A
	// hub sets it for the forwarder in its own process.
	Owner bool
	// PollInterval is the time between two looks at the spool, with
	// notification or without; 0 is DefaultPollInterval.
	PollInterval time.Duration
	// RequestTimeout bounds the time of one request from when it is taken; 0 is
	// DefaultRequestTimeout. Waits in the hub are capped 5 s below it.
	RequestTimeout time.Duration
	// Notify asks the system to tell of new files, which spares half a poll
	// interval where it works.
	Notify bool
	// Transport carries the calls; nil is a transport of the forwarder's own.
	Transport http.RoundTripper
	// Logger gets one line when a trouble begins and one when it ends; nil
	// discards them. It never gets a body or a session.
	Logger *slog.Logger
	// Ready is called once, when the spool is served for the first time.
	Ready func()
	// Step is called between the steps of a request, so that tests can crash
	// there.
	Step func(Step)
}

// Step is a moment in the life of a request.
type Step string

// The steps, in their order.
const (
	StepLocked    Step = "locked"    // this forwarder has locked it under its first name
	StepTaken     Step = "taken"     // has its name of a request under way
	StepSending   Step = "sending"   // read and allowed
	StepAnswered  Step = "answered"  // the answer is known
	StepResponded Step = "responded" // the response is in its place
	StepRemoved   Step = "removed"   // the request is gone
)

// Forwarder serves one spool. Run does everything.
type Forwarder struct {
	cfg     Config
	http    *http.Client
	run     context.Context // Run's
	ending  context.Context // its end breaks off all calls
	base    string
	lock    func(*os.File) (bool, error) // tryLock, but in tests
	large   *budget                      // of requests
	answers *budget
	kick    chan struct{} // a call may be ready to start
	reject  rejects
	log     troubles
	calls   sync.WaitGroup
	sweeps  atomic.Bool // a sweep goes on
	most    struct {
		folders int // that are served
		calls   int // under way in all folders
	}

	// Only Run's goroutine uses the following fields.
	spool   *spool
	crowded bool    // the present look found too many folders
	misfits *folder // the folder requests itself, with entries that are no agent folders
	notices notices
	absence absence
	active  time.Time             // when the last call began
	pending map[*folder]bool      // have names queued or unread
	quick   map[*folder]time.Time // are read more often until then

	mu       sync.Mutex
	folders  map[string]*folder
	inAll    int  // calls under way in all folders
	parks    int  // of these, those that wait in the hub or for a place there
	full     bool // there was no room for a call lately
	stopping bool
}

// New checks the configuration. It touches nothing.
func New(cfg Config) (*Forwarder, error) {
	if cfg.PollInterval == 0 {
		cfg.PollInterval = DefaultPollInterval
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = DefaultRequestTimeout
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Step == nil {
		cfg.Step = func(Step) {}
	}
	if cfg.Ready == nil {
		cfg.Ready = func() {}
	}
	switch {
	case cfg.Dir == "":
		return nil, hub.Invalid("dir", "a relay needs a spool folder")
	case cfg.PollInterval < MinPollInterval || cfg.PollInterval > MaxPollInterval:
		return nil, hub.Invalid("poll_interval", "the poll interval is out of range")
	case cfg.RequestTimeout < MinRequestTimeout || cfg.RequestTimeout > MaxRequestTimeout:
		return nil, hub.Invalid("request_timeout", "the request timeout is out of range")
	}
	if err := client.CheckBaseURL(cfg.BaseURL); err != nil {
		return nil, err
	}
	// The path must stay right if the process changes its working folder.
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	f := &Forwarder{
		cfg: cfg, base: strings.TrimRight(cfg.BaseURL, "/"), log: troubles{log: cfg.Logger, now: bounded.New[string, string](maxTroubles)},
		run: context.Background(), ending: context.Background(), lock: tryLock, large: newBudget(maxLargeInAll), answers: newBudget(maxKeptInAll), kick: make(chan struct{}, 1),
		misfits: newFolder(""), notices: notices{make: fsnotify.NewWatcher}, absence: absence{make: fsnotify.NewWatcher},
		pending: map[*folder]bool{}, quick: map[*folder]time.Time{}, folders: map[string]*folder{},
	}
	f.reject.log, f.reject.run, f.reject.told = &f.log, f.run, bounded.New[string, struct{}](maxFolders)
	f.most.folders, f.most.calls = maxFolders, callsFor(openFiles())
	return f, nil
}

// Run serves the spool until ctx ends. Then calls that do not wait in the hub
// get two seconds to finish. Unanswered requests stay in the spool for the next
// forwarder. No goroutine is left. Trouble with the spool or the hub never ends
// Run. Run is called once.
func (f *Forwarder) Run(ctx context.Context) {
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	f.run, f.ending, f.reject.run = ctx, ending, ctx
	transport := f.cfg.Transport
	if transport == nil {
		own := ownTransport(f.cfg.BaseURL, f.cfg.DataRoot)
		defer own.CloseIdleConnections()
		transport = own
	}
	f.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for f.serve(ctx) {
		pause.For(ctx, panicPause)
	}
	f.finish(end)
	f.close()
}

// panicPause keeps a panic that happens again at once from filling the log.
const panicPause = time.Second

// serve runs loop and reports whether a panic has ended it before ctx did. The
// caller then starts it again with the spool opened anew: the daemon may live
// in the same process, and no file in a spool may end that.
func (f *Forwarder) serve(ctx context.Context) (again bool) {
	defer func() {
		if cause := recover(); cause != nil {
			f.panicked(cause, "doing", "the loop")
			again = ctx.Err() == nil
		}
	}()
	f.close() // a panic may have left it half done
	f.loop(ctx)
	return false
}

func (f *Forwarder) loop(ctx context.Context) {
	every := f.cfg.PollInterval
	tick := time.NewTicker(every)
	defer tick.Stop()
	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
	quick := time.NewTicker(quickInterval)
	quick.Stop()
	defer quick.Stop()
	ticking := false
	f.look()
	f.await()
	for {
		f.startSome(ctx)
		if ticking != (len(f.quick) > 0) {
			if ticking = !ticking; ticking {
				quick.Reset(quickInterval)
			} else {
				quick.Stop()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.look()
			f.await()
		case <-quick.C:
			f.lookQuickly()
		case <-sweep.C:
			f.relax()
			f.watchAgain()
			f.sweepBeside()
		case <-f.kick:
		case <-f.absence.events:
			f.absence.close() // armed again at the next tick: the folder may be busy
			f.look()
		case _, ok := <-f.absence.errors:
			if f.absence.close(); ok { // some events were lost
				f.look()
			}
		case event, ok := <-f.notices.events:
			f.noticed(event, ok)
		case _, ok := <-f.notices.errors:
			// The system's queue overflowed; the next look sees all.
			if !ok {
				f.notices.close()
			}
		}
		if interval := f.interval(); interval != every {
			every = interval
			tick.Reset(every)
		}
	}
}

// interval is the time until the next look. A spool that is missing, and that the
// forwarder must not create, is looked for less often, and so is one of which
// notification tells while nobody uses it.
func (f *Forwarder) interval() time.Duration {
	switch {
	case f.spool == nil && f.cfg.Create:
	case f.spool == nil && f.absence.armed():
		return max(f.cfg.PollInterval, waitInterval)
	case f.spool == nil:
		return max(f.cfg.PollInterval, absentInterval)
	case f.quiet():
		return max(f.cfg.PollInterval, quietInterval)
	}
	return f.cfg.PollInterval
}

// quiet reports whether nobody has used the spool lately, and notification would
// tell of the next request. A folder whose last request came unannounced is on a
// file system that does not tell of everything.
func (f *Forwarder) quiet() bool {
	if f.notices.watcher == nil || len(f.pending) > 0 || len(f.quick) > 0 || f.crowded || time.Since(f.active) < quietAfter {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inAll > 0 {
		return false
	}
	for _, d := range f.folders {
		if !d.watched || d.unheard || d.missed || d.unreadable || d.heldByOthers > 0 {
			return false
		}
	}
	return true
}

// finish gives calls a moment to end by themselves. It breaks off those that
// wait in the hub at once.
func (f *Forwarder) finish(end context.CancelFunc) {
	f.mu.Lock()
	f.stopping = true
	for _, d := range f.folders {
		for _, c := range d.under {
			if c.parks {
				c.cancel()
			}
		}
	}
	f.mu.Unlock()
	patience := time.AfterFunc(stopPatience, end)
	defer patience.Stop()
	f.calls.Wait()
}

// ownTransport uses no proxy, because a proxy would see an agent's calls. It
// keeps as many connections as there are usually calls that do not wait.
// Connections to a hub on this machine come from loopback, because a hub takes
// the calls of a spool from nowhere else.
func ownTransport(base, dataRoot string) *http.Transport {
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Hostname()
	}
	return &http.Transport{
		DialContext:         client.Dialer(host, dataRoot, 0),
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 64,
		// Shorter than the hub's, so that a call seldom gets a connection that
		// the hub is closing.
		IdleConnTimeout:    30 * time.Second,
		DisableCompression: true,
	}
}

// wake lets Run's goroutine look for what can be started.
func (f *Forwarder) wake() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}
