package adapter

import (
	"errors"
	"path/filepath"

	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
)

// skips says that a harness skips a file that is no strict JSON, and with it all that the
// hub has in there; nil if it reads the file.
func (r *row) skips(file string, doc []byte) error {
	if filepath.Base(file) != r.strict {
		return nil
	}
	if err := edit.CheckStrict(doc); err != nil {
		return errors.New(r.title() + " skips the whole file " + file + ", with all that is in it: " + err.Error())
	}
	return nil
}

// skipsAny says that a harness skips one of the files of a part.
func (t *trial) skipsAny(w wanted) error {
	r, _ := rowOf(t.harness)
	for _, e := range w.entries {
		if e.Format != edit.JSON {
			continue
		}
		doc, err := files.Read(e.Root, e.File, e.Owner.Scope)
		if err == nil {
			err = r.skips(e.File, doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strictFix is what the user does about a file that is skipped.
const strictFix = "take the comments and the trailing commas out of the file"

// warnStrict returns a warning for each changed file that the harness will skip.
func (r *row) warnStrict(changes []files.Change) (warnings []string) {
	for _, c := range changes {
		if c.After == nil || len(c.Entries) == 0 || c.Entries[0].Format != edit.JSON {
			continue
		}
		if err := r.skips(c.File, c.After); err != nil {
			warnings = append(warnings, err.Error()+"; "+strictFix)
		}
	}
	return warnings
}
