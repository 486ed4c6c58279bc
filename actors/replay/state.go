package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// errEnough ends a walk of the journal that has found what it looks for.
var errEnough = errors.New("replay: enough")

// maxWalkers is how many states stay in memory, so that a replay that is played, or a
// slider that moves to the right, applies each record once.
const maxWalkers = 2

// walker is the state of tasks and leases after a record.
type walker struct {
	upto   hub.Seq // all records up to it are applied
	now    core.Now
	latest hub.MessageID // the last message up to then
	tasks  *core.Tasks
	leases map[core.Owner]*core.Leases
	asOf   map[core.Owner]hub.Seq  // records of the owner up to it are in the state already
	broken map[core.Owner]struct{} // owners that could not apply a record; they stay as they were before
	used   time.Time
}

// newWalker makes the state of a moment that was kept.
func newWalker(k *kept) (*walker, error) {
	w := &walker{
		upto: k.Head.Seq, latest: k.Head.Message, now: core.Now{HubMS: k.Head.HubMS, Wall: k.Wall},
		tasks: core.NewTasks(), leases: map[core.Owner]*core.Leases{},
		asOf: map[core.Owner]hub.Seq{}, broken: map[core.Owner]struct{}{},
	}
	for _, owner := range core.LeaseOwners() {
		w.leases[owner] = core.NewLeases()
	}
	for _, s := range k.Sections {
		var err error
		if s.Owner.Kind == core.OwnerTasks {
			w.tasks, err = core.RestoreTasks(s.Version, s.Data)
		} else {
			w.leases[s.Owner], err = core.RestoreLeases(s.Version, s.Data)
		}
		if err != nil {
			return nil, err
		}
		w.asOf[s.Owner] = s.AsOf
	}
	return w, nil
}

// walk applies the records up to a moment.
func (w *walker) walk(journal core.Journal, seq hub.Seq) error {
	if seq <= w.upto {
		return nil
	}
	err := journal.Records(w.upto, func(rec *core.Record) error {
		if rec.Seq > seq {
			return errEnough
		}
		w.now = core.Now{HubMS: rec.HubMS, Wall: rec.Wall}
		w.latest = rec.FirstMessage + hub.MessageID(rec.MessageCount) - 1
		w.upto = rec.Seq
		return w.apply(rec)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// apply applies one record. An owner that panics shows what it was before the record, as
// the hub itself does.
func (w *walker) apply(rec *core.Record) (err error) {
	var state core.Machine
	switch rec.Owner.Kind { //nolint:exhaustive // the rows say it of the others
	case core.OwnerTasks:
		state = w.tasks
	case core.OwnerLeases:
		state = w.leases[rec.Owner]
	}
	if _, broken := w.broken[rec.Owner]; state == nil || broken || rec.Seq <= w.asOf[rec.Owner] {
		return nil
	}
	defer func() {
		if recover() != nil {
			w.broken[rec.Owner] = struct{}{}
		}
	}()
	for _, encoded := range rec.Facts {
		f, err := core.DecodeFact(encoded)
		if err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		state.Apply(f, rec.Position(), nil)
	}
	return nil
}

// at returns the state of a moment. It is valid, and not to be changed, until mu is
// released.
func (r *Replay) at(seq hub.Seq) (*walker, error) {
	base, err := r.latestBefore(seq)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.walkers, func(w *walker) bool { return w.upto <= seq && w.upto >= base })
	if i < 0 {
		k, err := r.before(seq)
		if err != nil {
			return nil, err
		}
		w, err := newWalker(k)
		if err != nil {
			return nil, err
		}
		if len(r.walkers) == maxWalkers {
			oldest := slices.MinFunc(r.walkers, func(a, b *walker) int { return a.used.Compare(b.used) })
			r.walkers = slices.DeleteFunc(r.walkers, func(w *walker) bool { return w == oldest })
		}
		i, r.walkers = len(r.walkers), append(r.walkers, w)
	}
	w := r.walkers[i]
	w.used = time.Now()
	if err := w.walk(r.journal, seq); err != nil {
		r.walkers = slices.Delete(r.walkers, i, i+1)
		return nil, err
	}
	return w, nil
}

// latestBefore returns the record of the latest kept state that a moment can use, or 0.
func (r *Replay) latestBefore(seq hub.Seq) (at hub.Seq, err error) {
	err = r.rows.RowsBehind(core.TableMoment, nil, momentKey(seq+1, 0), true, func(key, _ []byte) bool {
		at = momentSeq(key)
		return false
	})
	return at, err
}

// dropIdle lets go of states that nobody has asked for since the last call.
func (r *Replay) dropIdle() {
	r.walkers = slices.DeleteFunc(r.walkers, func(w *walker) bool { return w.used.Before(r.looked) })
	r.looked = time.Now()
}

// lastUpTo returns the last record of a time, not before from and not after upto. It
// searches by halves. Where the clock of the machine was set back, the times of records do
// not rise, and the record is one of those around the time.
func (r *Replay) lastUpTo(at hub.Time, from, upto hub.Seq) (hub.Seq, error) {
	var failed error
	n := sort.Search(int(upto-from), func(i int) bool {
		rec, found, err := r.recordBehind(from + hub.Seq(i))
		failed = cmp.Or(failed, err)
		return failed != nil || !found || rec.Wall > at
	})
	return from + hub.Seq(n), failed
}

// recordBehind returns the first record behind seq, if there is one.
func (r *Replay) recordBehind(seq hub.Seq) (rec core.Record, found bool, err error) {
	err = r.journal.Records(seq, func(first *core.Record) error {
		rec, found = *first, true
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return rec, found, err
}
