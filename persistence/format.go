package persistence

import (
	"errors"
	"fmt"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/osfile"
)

// Format is the format of the store: the least program that understands it. It rises
// while the store is open.
func (s *Store) Format() int { return int(s.format.Load()) }

// RaiseFor raises the format of the store to what a file of its folder, or an encoding,
// needs. Code that makes such a file calls it first. Error: core.ErrNoRoom, or final.
func (s *Store) RaiseFor(name string) error {
	need := s.formats.OfName(name)
	if need <= s.Format() {
		return nil
	}
	if s.start != nil {
		return errNotBegun
	}
	gen, _, err := s.gate.enter()
	if err != nil {
		return err
	}
	defer s.gate.leave(gen)
	return s.raise(need)
}

// raise makes durable that the store needs a format, before anything that needs it is
// written. A crash behind it leaves a number that is too high, which harms nothing.
// Errors: core.ErrNoRoom, and then nothing has changed; any other has made the store fail.
func (s *Store) raise(need int) error {
	if need <= s.Format() {
		return nil
	}
	s.raising.Lock()
	defer s.raising.Unlock()
	was := s.Format()
	if need <= was {
		return nil
	}
	if err := s.Check(); err != nil {
		return err
	}
	err := storedir.WriteMarker(s.fs, s.dir, storedir.Marker{Format: need, InstanceID: s.marker.InstanceID})
	switch {
	case err != nil && osfile.IsFull(err):
		return core.ErrNoRoom
	case err != nil:
		return s.fail(fmt.Errorf("writing FORMAT: %w", err))
	}
	s.format.Store(int64(need))
	s.log.Info("the store is now of another format; earlier versions of hubcli refuse it", "was", was, "format", need)
	return nil
}

// leastFormat is the format of a store in which nothing stands that got a number later.
func (s *Store) leastFormat(o *Options) int {
	if o.Maker == nil || o.Maker.Key == nil {
		return core.BaseFormat
	}
	return max(core.BaseFormat, s.formats.OfName(storedir.NameMaker))
}

// raiseLeast marks a store of before the steps, or without its maker's mark, before anything
// of today's is written to it. What stands in it stays as it is.
func (s *Store) raiseLeast(o *Options) error {
	s.format.Store(int64(s.marker.Format)) // of a new store
	err := s.raise(s.leastFormat(o))
	if errors.Is(err, core.ErrNoRoom) {
		free, _ := s.space.free(s.dir)
		return storedir.StoreFull(s.dir, free, openNeeded)
	}
	if err != nil {
		return storedir.IOError("writing FORMAT", err)
	}
	s.marker.Format = s.Format()
	return nil
}

// formatOf is the format that a group needs.
func (s *Store) formatOf(g *core.Group) int {
	need := s.formats.OfGroup(g)
	for _, r := range g.Records {
		need = max(need, s.formatOfFlags(r.Messages))
	}
	return need
}

func (s *Store) formatOfFlags(messages []core.StoredMessage) (need int) {
	for i := range messages {
		need = max(need, s.formats.OfFlags(codec.MessageFlags(&messages[i])))
	}
	return need
}
