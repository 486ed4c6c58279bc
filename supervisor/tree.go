// Package supervisor runs one hub: it starts its parts in order (store, actors,
// HTTP server), watches them, and stops them in the reverse order. Its policy is
// short: an actor is rebuilt or quarantined by package actors; the journal is
// fail-stop; whatever else breaks ends the hub, and the next start replays.
//
// Start and Stop may be called from any goroutine, each once. The package decides
// nothing about messages, and it never restarts a part.
package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/actors"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/integrations/folders"
	"hubcli/internal/hubfile"
	"hubcli/persistence"
	"hubcli/persistence/search"
)

// Config says what hub to run. Storage and Listener are required.
type Config struct {
	Storage         string             // the store folder
	DataRoot        string             // where programs of this user learn of the hub; empty: nowhere
	Listener        net.Listener       // bound; the tree closes it
	AllowRemote     bool               // calls from beyond loopback
	AcceptTruncated bool               // open a store that has lost its tail
	Maker           *persistence.Maker // tells which stores are this user's; nil: all are taken for it
	Adopt           bool               // take over a store of others
	Limits          hub.Limits         // zero: the defaults
	MaxConnections  int                // at a time; 0: hub.MaxConnections
	Version         string             // of the program
	Adapters        Adapters           // of harnesses; nil: there are none
	Browsers        hub.Browsers       // engines of the machine; nil: none is looked for
	Licenses        hub.Licenses       // of this machine; nil: it has none
	MCP             http.Handler       // serves MCP over HTTP; nil: nothing does
	Logger          *slog.Logger       // nil discards

	// Runner starts the processes of spawns, which reach the hub at BaseURL; nil:
	// the hub starts none.
	Runner  actors.Runner
	BaseURL string
	// Browser shows web pages to rooms; nil: the hub has no browser.
	Browser Browser
	// Notifier tells the operator of questions; nil: nothing does.
	Notifier actors.Notifier

	// Directory knows hosted providers, and Credentials keeps their keys; nil: the hub has
	// no connections.
	Directory   actors.Directory
	Credentials actors.Credentials

	// Capsules makes the parts that export and import projects; nil: the hub does neither.
	Capsules func(Parts) Capsules

	// AutoRooms lets programs bind folders by themselves for an agent that needs a room.
	AutoRooms bool
	// WithoutSearch runs the hub without a search index, for tests and measures.
	WithoutSearch bool
	// Actors may change how the actors run, for tests.
	Actors func(*actors.Options)
	// HTTP may change how the server runs, for tests.
	HTTP func(*httpapi.Config)

	// Begun is called when the hub has its state, before anybody can call it; nil: nothing is done then.
	Begun func(*actors.Hub, hub.InstanceID)
}

// Browser shows web pages to rooms.
type Browser interface {
	hub.BrowserDriver
	// Sweep removes what a hub has left that ended at once.
	Sweep()
	// Close ends the engine, and with it all steps.
	Close()
}

// Adapters sets the hub up in harnesses.
type Adapters interface {
	hub.Adapters
	// Installed says in short where something is installed.
	Installed() []string
}

// stopWait bounds each stage of a stop.
const stopWait = 15 * time.Second

// features are what this hub does; hub-info lists them.
var features = []hub.Feature{
	hub.FeatureSSE, hub.FeatureRelay, hub.FeatureLongPollKeep, hub.FeatureSubtaskRollup, hub.FeatureRPCKinds,
	hub.FeatureCapabilityFilter, hub.FeatureShutdownControl, hub.FeatureSessionRename,
	hub.FeatureIdempotency, hub.FeatureFencing, hub.FeatureLeaseWait, hub.FeatureRooms, hub.FeatureWatch,
}

// Tree is a running hub.
type Tree struct {
	Store *persistence.Store
	Hub   *actors.Hub
	HTTP  *httpapi.Server

	config   Config
	log      *slog.Logger
	started  time.Time
	shutdown *shutdown
	operator *socket // nil: the system gives none
	capsules Capsules
	peers    *peers
	profiles sync.Mutex         // held while a profile is taken
	backups  sync.Mutex         // held while a backup is made
	cease    context.CancelFunc // ends the HTTP server
	served   chan error         // its result
}

// Start opens the store, starts the actors and serves. The error of a store that
// cannot be opened is a *persistence.StartError.
func Start(c Config) (*Tree, error) {
	if c.Limits == (hub.Limits{}) {
		c.Limits = hub.DefaultLimits()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tree{config: c, log: c.Logger, started: time.Now(), served: make(chan error, 1)}
	t.shutdown = newShutdown()
	if err := t.startParts(); err != nil {
		_ = c.Listener.Close()
		return nil, err
	}
	listeners := []net.Listener{c.Listener}
	var err error
	if t.operator, err = t.listenOperator(); err != nil {
		t.log.Warn("the operator's programs cannot reach this hub: it has no socket for them", "error", err)
	} else {
		listeners = append(listeners, t.operator)
	}
	t.note()
	ctx, cancel := context.WithCancel(context.Background())
	t.cease = cancel
	go func() { t.served <- t.HTTP.Serve(ctx, listeners...) }()
	return t, nil
}

func (t *Tree) startParts() (err error) {
	c := t.config
	if t.Store, err = persistence.OpenToRead(c.Storage, persistence.Options{
		Logger: c.Logger, AcceptTruncated: c.AcceptTruncated, Address: c.Listener.Addr().String(),
		Maker: c.Maker, Adopt: c.Adopt,
	}); err != nil {
		return err
	}
	options := actors.Options{
		Journal: t.Store, Rows: t.Store, Stager: t.Store, Secret: t.Store.SecretKey(), Logger: c.Logger, Info: t.info(), StoreFormat: t.Store.Format, Folders: folders.New(),
		Begin:     t.Store.Begin,
		AutoRooms: c.AutoRooms, Runner: c.Runner, BaseURL: c.BaseURL, Notifier: c.Notifier, Directory: c.Directory, Credentials: c.Credentials,
		Adopt: t.Store.Adopting(), MaxParked: mostParked(cmp.Or(c.MaxConnections, hub.MaxConnections)),
	}
	if c.Browser != nil {
		c.Browser.Sweep()
		options.Browser = c.Browser
	}
	if !c.WithoutSearch {
		options.Index = t.Store.Beside(search.New(t.Store.SearchDir(), t.Store.InstanceID(), c.Logger))
	}
	if c.Actors != nil {
		c.Actors(&options)
	}
	if t.Hub, err = actors.Start(options); err != nil {
		return errors.Join(err, t.Store.Close())
	}
	if err = t.adopted(); err != nil {
		return err
	}
	if c.Begun != nil {
		c.Begun(t.Hub, t.Store.InstanceID())
	}
	t.newCapsules()
	t.peers = newPeers(c.Logger)
	server := httpapi.Config{
		Capsules: t.capsules.Exports, Imports: t.capsules.Imports, Answers: t.Hub,
		Service: t.Hub, Follows: t.Hub, Status: t, Control: t.shutdown, Sessions: t.Hub, Presence: t.Hub, Peers: t.peers,
		OperatorToken: t.Store.OperatorToken(), InstanceID: t.Store.InstanceID(), ProofKey: hubfile.ProofKey(t.Store.SecretKey()),
		AllowRemote: c.AllowRemote, Limits: c.Limits, MaxConnections: c.MaxConnections, Logger: c.Logger,
		MCP: c.MCP,
	}
	if c.Browsers != nil {
		server.Browsers = c.Browsers
	}
	if c.Adapters != nil {
		server.Adapters = c.Adapters
	}
	if c.Licenses != nil {
		server.Licenses = c.Licenses
	}
	if c.HTTP != nil {
		c.HTTP(&server)
	}
	if t.HTTP, err = httpapi.New(server); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopWait)
		defer cancel()
		t.capsules.close()
		return errors.Join(err, t.peers.close(), t.Hub.Stop(ctx), t.Store.Close())
	}
	return nil
}

// adopted ends an adoption: what the maker of the store had set is gone by now.
func (t *Tree) adopted() error {
	if !t.Store.Adopting() {
		return nil
	}
	if err := t.Store.Adopted(); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopWait)
		defer cancel()
		return errors.Join(err, t.Hub.Stop(ctx), t.Store.Close())
	}
	t.log.Warn("the store was made by others and is taken over: its programs, rules, connections, passes, invites and bound folders are dropped, and its secrets are new")
	return nil
}

func (t *Tree) info() hub.Info {
	dir := t.storeDir()
	_, commit, _ := strings.Cut(t.config.Version, "+")
	return hub.Info{
		InstanceID: t.Store.InstanceID(), ProtocolVersion: hub.ProtocolVersion, Implementation: hub.Implementation,
		ImplementationVersion: t.config.Version, DefaultChannel: hub.DefaultChannel,
		MaxBodyChars: t.config.Limits.MaxBodyChars, MaxAttachmentChars: t.config.Limits.MaxAttachmentChars,
		MaxAttachments: t.config.Limits.MaxAttachments, Features: features, MessageKinds: hub.Kinds(),
		StoragePath: dir, AllowRemote: t.config.AllowRemote,
		Commit: commit, StoreFormat: t.Store.Format(), StoreFormatKnown: storedir.LatestFormat(),
	}
}

// storeDir is the absolute path of the store.
func (t *Tree) storeDir() string {
	dir := t.Store.Dir()
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Wait returns when the hub is to stop: ctx is done or a shutdown was asked for
// (nil), or a part has failed.
func (t *Tree) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-t.shutdown.due:
		return nil
	case <-t.Hub.Failed():
		if err := t.storeGone(); err != nil {
			return t.tellGone(ctx, err)
		}
		return fmt.Errorf("the hub had to stop: %w", t.Hub.Cause())
	case <-t.Store.Failed():
		if err := t.storeGone(); err != nil {
			return t.tellGone(ctx, err)
		}
		return t.Store.Err()
	case err := <-t.served:
		t.served <- err
		return fmt.Errorf("the server ended: %w", err)
	}
}

// Stop ends the hub: parked calls are answered at once, what is under way is made
// durable, the listener and the store are closed. After a failure nothing more is
// written.
func (t *Tree) Stop() error {
	t.shutdown.stop()
	t.Hub.EndParked()
	if t.config.Browser != nil {
		t.config.Browser.Close()
	}
	t.cease()
	served := <-t.served
	t.operator.remove() // while the store is locked: the next hub makes its own
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	t.capsules.close()
	stopped := t.Hub.Stop(ctx)
	return errors.Join(served, stopped, t.peers.close(), t.Store.Close())
}

// Info answers hub-info.
func (t *Tree) Info(ctx context.Context) (hub.Info, error) {
	info, err := t.Hub.Info(ctx)
	info.StoreGone = t.storeGone() != nil
	return info, err
}

// AppStatus answers app/status.
func (t *Tree) AppStatus(context.Context) (hub.AppStatus, error) {
	if err := t.storeGone(); err != nil {
		return hub.AppStatus{}, err
	}
	journal := t.Hub.JournalStatus()
	journal.LastSyncMS = float64(t.Store.LastSync().Microseconds()) / 1000
	info := t.info()
	adapters := []string{}
	if t.config.Adapters != nil {
		adapters = t.config.Adapters.Installed()
	}
	return hub.AppStatus{
		Version: t.config.Version, InstanceID: info.InstanceID, PID: os.Getpid(),
		UptimeSec: time.Since(t.started).Seconds(), StoragePath: info.StoragePath,
		ListenAddress: t.config.Listener.Addr().String(), Counts: t.Hub.Counts(), Search: t.Hub.SearchStatus(), Journal: journal,
		Quarantined: t.Hub.Quarantined(), Adapters: adapters, Asleep: t.Hub.Asleep(),
		Paused: t.Hub.Paused(), Muted: t.Hub.Muted(), Salvaged: t.Store.Salvaged(), Users: t.HTTP.LocalUsers(t.Hub.Users()),
	}, nil
}

var _ hub.Status = (*Tree)(nil)

// mostParked is how many calls may wait where there are so many connections: the others need
// some, too.
func mostParked(connections int) int { return max(1, connections-connections/16) }
