package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"hubcli/cli/daemon"
	"hubcli/hub"
)

// damageShown is how many damaged places of a store are named.
const damageShown = 10

// store looks at the folder of the store. It reads all of a store that no hub serves.
func (x *exam) store(context.Context) {
	dir, served := x.Store, false
	if x.hub != nil && !x.StoreNamed {
		if !x.proved || x.hub.StoragePath == "" { // it could name any folder
			return
		}
		dir, served = x.hub.StoragePath, true
	}
	if dir == "" {
		x.fail("store", "the data root cannot be told", "set HUB_DATA_ROOT to a folder")
		return
	}
	info, err := x.Inspect(dir)
	switch {
	case errors.Is(err, daemon.ErrNoStore) && served:
		x.fail("store", "the hub serves the store "+dir+", and that folder is gone", "stop the hub; what it has in memory is lost. Restore a backup: hubcli app restore FILE")
		return
	case errors.Is(err, daemon.ErrNoStore):
		x.ok("store", "there is no store at "+dir+" yet; the first start makes one")
		return
	case err != nil:
		x.refused(err)
		x.examine(dir)
		return
	}
	if served && info.Instance != x.hub.InstanceID {
		x.fail("store", "the folder "+dir+" was exchanged while the hub at "+x.BaseURL+" runs", "stop that hub and start it again: hubcli stop, then hubcli ensure")
		return
	}
	if served || info.Held || x.examine(dir) {
		x.ok("store", fmt.Sprintf("the store at %s has a good marker; it needs a hubcli that knows format %d", dir, info.Format))
	}
	x.salvaged(dir, info.Salvaged)
	x.room(dir, info)
}

func (x *exam) refused(err error) {
	x.fail("store", err.Error(), cmp.Or(x.FixOf(err), "restore a backup: hubcli app restore FILE"))
}

// examine reads a store through, names what is damaged, and reports whether nothing is.
func (x *exam) examine(dir string) bool {
	if x.Examine == nil {
		return true
	}
	found, err := x.Examine(dir, x.DataRoot)
	if err != nil {
		return true // another process has begun to use it, or it is none: Inspect says so
	}
	add := x.warn
	if found.Refused != nil {
		add = x.fail
		if _, err := x.Inspect(dir); err == nil { // else it has been said
			x.refused(found.Refused)
		}
	}
	out := "bring what is whole into a new store: hubcli app doctor --salvage FOLDER"
	if x.StoreNamed {
		out += " --storage " + dir
	}
	for i, d := range found.Damaged {
		if i == damageShown {
			add("store", fmt.Sprintf("%d further places are damaged", len(found.Damaged)-i), out)
			break
		}
		add("store", d.File+": "+d.Reason, out)
	}
	return found.Refused == nil && len(found.Damaged) == 0
}

// salvaged says what a salvaged store lacks. Nothing can be done about it any more.
func (x *exam) salvaged(dir string, s *hub.Salvage) {
	if s == nil {
		return
	}
	x.ok("store", fmt.Sprintf("the store was salvaged at %s from %s: %s; the file SALVAGED in %s lists it", s.Made, s.From, Missing(s), dir))
}

// Missing says in short what a salvaged store lacks.
func Missing(s *hub.Salvage) string {
	return fmt.Sprintf("%d messages, %d records and %d values are missing", s.LostMessages, s.LostRecords, s.LostRows)
}
