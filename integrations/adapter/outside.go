package adapter

import (
	"context"
	"time"

	"hubcli/hub"
)

// Time limits of work on other people's files. A network folder may never answer,
// and nothing can end a goroutine that waits for it.
const (
	lookLimit  = 10 * time.Second // one harness
	planLimit  = 20 * time.Second // below the time limit of an answer
	stopGrace  = 2 * time.Second  // for work whose ctx has ended
	lookWait   = time.Second      // how long a status waits for a change under way
	lockLook   = 5 * time.Millisecond
	verifyLate = 3 * time.Second
)

// errHangs says that a file system does not answer.
func errHangs() *hub.Error {
	return hub.NewError(hub.CodeAdapterBusy, "reading the files of the harness timed out").WithRetryAfter(30).
		WithFix("check the network folders among the home folder, the project and PATH")
}

// outside runs do, which works on other people's files. It returns when do
// returns, or soon after ctx ends or the time is over. If do still waits for a
// file then, it is left running, and further work of the same name fails at
// once until it ends.
func outside[T any](ctx context.Context, a *Adapters, name string, limit time.Duration, do func(context.Context) (T, error)) (T, error) {
	type end struct {
		row T
		err error
	}
	var none T
	limit = min(limit, a.patience)
	began, ok := a.enter(name, limit)
	if !ok {
		return none, errHangs()
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended := make(chan end, 1)
	go func() {
		row, err := do(ctx)
		a.leave(name, began)
		ended <- end{row, err}
	}()
	select {
	case e := <-ended:
		return e.row, e.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case e := <-ended:
		return e.row, e.err
	case <-grace.C:
		return none, errHangs()
	}
}

// enter records that work begins. It returns false if work of the same name
// hangs already.
func (a *Adapters) enter(name string, limit time.Duration) (*time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for began := range a.under[name] {
		if now.Sub(*began) > limit {
			return nil, false
		}
	}
	if a.under[name] == nil {
		a.under[name] = map[*time.Time]bool{}
	}
	a.under[name][&now] = true
	return &now, true
}

func (a *Adapters) leave(name string, began *time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.under[name], began)
}

// lock waits until no other goroutine changes or reads adapters.
func (a *Adapters) lock(ctx context.Context) (unlock func(), err error) {
	for !a.changing.TryLock() {
		select {
		case <-ctx.Done():
			return nil, hub.NewError(hub.CodeAdapterBusy, "another adapter is being changed").WithRetryAfter(5).
				WithFix("try again in a few seconds")
		case <-time.After(lockLook):
		}
	}
	return a.changing.Unlock, nil
}

// lookLock lets a status read the state before or after a change. A change that hangs
// does not keep it from reading.
func (a *Adapters) lookLock(ctx context.Context) (unlock func()) {
	for deadline := time.Now().Add(lookWait); !a.changing.TryRLock(); {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return func() {}
		}
		time.Sleep(lockLook)
	}
	return a.changing.RUnlock
}
