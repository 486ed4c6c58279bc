package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// How a watch comes back to a hub that went away.
const (
	watchRetryFirst = 100 * time.Millisecond
	watchRetryMost  = 5 * time.Second
)

// watcher is one run of the command watch.
type watcher struct {
	env      *Env
	options  *watchOptions
	deadline time.Time
	hub      *client.Client
	query    hub.WatchQuery
	instance hub.InstanceID // of the hub first reached; empty: none yet
	last     hub.Watched    // what the hub answered last
	looked   bool           // it has answered
	away     bool           // the last call got no answer
}

// run waits until the watch has an outcome. The error carries the exit code.
func (w *watcher) run(ctx context.Context) (*watchOutcome, error) {
	q, err := w.options.query()
	if err == nil {
		w.hub, err = w.options.client()
	}
	if err != nil {
		return w.failed(err)
	}
	defer w.hub.Close()
	w.query, w.query.Began = q, hub.TimeOf(w.env.Now())
	for pause := watchRetryFirst; ; {
		err := w.same(ctx, w.once(ctx))
		switch {
		case ctx.Err() != nil:
			return w.interrupted(context.Cause(ctx))
		case err == nil && w.last.Met:
			return w.matched(), nil
		case err == nil && w.left() <= 0:
			return w.timeout()
		case err == nil: // before its time: the hub stops, and what comes back may be another
			pause, w.away = watchRetryFirst, true
		case !passing(err), w.left() <= 0 && w.instance == "":
			return w.failed(err)
		case w.left() <= 0:
			return w.timeout()
		}
		if err != nil {
			w.progress("%v; trying again", err)
			w.away = true
		}
		// A hub that stops answers its calls early; the next one finds it gone.
		wait(ctx, min(pause, max(w.left(), 0)))
		if err != nil {
			pause = min(2*pause, watchRetryMost)
		}
	}
}

// once makes sure that it speaks to the hub that it began with, and waits there.
func (w *watcher) once(ctx context.Context) error {
	if w.instance == "" || w.away {
		if err := w.meet(ctx); err != nil {
			return err
		}
	}
	if w.query.Room == "" {
		if err := w.resolve(ctx); err != nil {
			return err
		}
	}
	if !w.looked { // so that an outcome without an answer to the wait can say what was so
		w.query.Wait = 0
		if err := w.ask(ctx); err != nil || w.last.Met || w.left() <= 0 {
			return err
		}
		w.looked = true
	}
	w.query.Wait = min(max(w.left(), 0), hub.MaxWatchWait)
	w.progress("waiting in room %s for at most %s", w.query.Room, w.left().Round(time.Second))
	return w.ask(ctx)
}

func (w *watcher) ask(ctx context.Context) error {
	got, err := w.hub.Watch(ctx, w.query)
	if err == nil {
		w.last = got
	}
	return err
}

// meet learns which store the hub serves. Another one than before knows nothing
// of what this watch waits for.
func (w *watcher) meet(ctx context.Context) error {
	info, err := w.hub.Info(ctx)
	if err != nil {
		return err
	}
	if w.instance != "" && info.InstanceID != w.instance {
		return hub.NewError(hub.CodeStoreChanged, "the hub came back with another store: what the watch waited for is gone").
			WithFix("begin anew: register, and watch what the new store has")
	}
	if w.away && w.instance != "" {
		w.progress("the hub is back")
	}
	w.instance, w.away = info.InstanceID, false
	return nil
}

// same looks, when a hub that has answered before refuses, whether it is still that
// hub: what another store does not have says nothing.
func (w *watcher) same(ctx context.Context, err error) error {
	var e *hub.Error
	if err == nil || !w.looked || passing(err) || !errors.As(err, &e) || e.Code == hub.CodeWatchReplaced {
		return err
	}
	if other := w.meet(ctx); other != nil && !passing(other) {
		return other
	}
	return err
}

// resolve finds the room that is bound to the folder.
func (w *watcher) resolve(ctx context.Context) error {
	path := w.options.path
	if path == "" {
		path = "."
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return usage("name the room with --room", "the folder %s cannot be resolved: %v", path, err)
	}
	got, err := w.hub.Resolve(ctx, abs)
	if err != nil {
		return err
	}
	if !got.Bound || got.RoomID == nil {
		return usage("name the room with --room, or bind one with: hubcli room bind", "no room is bound to %s or a folder above it", abs)
	}
	w.query.Room = *got.RoomID
	return nil
}

func (w *watcher) left() time.Duration { return w.deadline.Sub(w.env.Now()) }

func (w *watcher) progress(format string, args ...any) {
	if w.options.verbose {
		w.env.note(format, args...)
	}
}

// passing reports whether a hub that is gone, restarts or has too much to do may
// answer a later call.
func passing(err error) bool {
	var e *hub.Error
	return errors.As(err, &e) && slices.Contains(passingCodes, e.Code)
}

var passingCodes = []hub.Code{
	client.CodeUnreachable, client.CodeNoAnswer, client.CodeBrokeOff,
	hub.CodeStopping, hub.CodeOverloaded, hub.CodeTimedOut, hub.CodeStoreFailed, hub.CodeQuarantined,
}

// wait lets time pass, unless ctx ends first.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
