package transfer

import (
	"os"
	"path/filepath"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// outside refuses a target in the folder of the hub's store, also where links lead there: what
// stands in that folder is the store's.
func (x *Exports) outside(target string) error {
	store, err := os.Stat(x.options.Store)
	if x.options.Store == "" || err != nil {
		return nil
	}
	for at := osfile.RealPath(filepath.Clean(target)); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, store) {
			return hub.Invalid("out", "out lies in the folder of the hub's store").With("folder", x.options.Store).
				WithFix("name a file or folder elsewhere")
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
}

// aim notes the folder in which the target of a plan lies. The plan means that folder, whatever
// has its path when it is confirmed.
func (p *plan) aim() {
	if info, err := os.Stat(filepath.Dir(p.row.Target)); err == nil {
		p.folder = info
	}
}

// strays reports whether the path of the target leads to another folder by now.
func (p *plan) strays() bool {
	info, err := os.Stat(filepath.Dir(p.row.Target))
	return err == nil && p.folder != nil && !os.SameFile(info, p.folder)
}
