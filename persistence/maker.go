package persistence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/hub"
	"hubcli/internal/maker"
	"hubcli/internal/osfile"
)

// The file MAKER says that a hub of this user made the store:
//
//	hubcli maker
//	state made
//	folder 1234567
//	mark 64 hexadecimal digits
//
// The mark is of the secret of the data root, over the state, the folder's own number
// and the instance. So it is worth nothing in another store, nor in a copy of this one.
// The state "adopting" says that the operator has taken over a store of others; the
// start that finds it does that before anything else, as often as it takes.
const (
	makerMagic   = "hubcli maker"
	makerPurpose = "store"

	stateMade     = "made"
	stateAdopting = "adopting"

	maxMaker = 4096
)

// Maker knows which stores hubs of this user have made. Root is the data root; a store
// that lies in it and has no mark was made there by an earlier hubcli, because nobody else
// writes there. A nil Key is that of a user without a data root.
type Maker struct {
	Key  *maker.Key
	Root string
}

// provenance is where a store comes from.
type provenance int

const (
	ours      provenance = iota // a hub of this user made it
	adopting                    // the operator has taken it over, and that is not done yet
	unmarked                    // no hub has marked it
	copied                      // a hub of this user made the store, and this folder is a copy
	foreign                     // another has made it
	illegible                   // its mark cannot be read
	untold                      // without a data root nobody can tell
)

// makerFile is what MAKER says.
type makerFile struct{ state, folder, mark string }

func readMakerFile(dir string) (m makerFile, err error) {
	b, err := osfile.ReadSmall(filepath.Join(dir, storedir.NameMaker), maxMaker)
	if err != nil {
		return m, err
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) != 5 || lines[0] != makerMagic || lines[4] != "" {
		return m, codec.ErrDamaged
	}
	var state, folder, mark bool
	m.state, state = strings.CutPrefix(lines[1], "state ")
	m.folder, folder = strings.CutPrefix(lines[2], "folder ")
	m.mark, mark = strings.CutPrefix(lines[3], "mark ")
	if !state || !folder || !mark {
		return m, codec.ErrDamaged
	}
	return m, nil
}

// of tells where the store in dir comes from. It changes nothing.
func (k *Maker) of(dir string, instance hub.InstanceID) (provenance, error) {
	m, err := readMakerFile(dir)
	if err != nil {
		switch {
		case errors.Is(err, osfile.ErrNotRegular):
			return foreign, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, codec.ErrDamaged) && !errors.Is(err, osfile.ErrTooLong):
			return foreign, storedir.IOError("reading "+storedir.NameMaker, err)
		case k.holds(dir): // a program that damages the mark could have deleted it, too
			return ours, nil
		case errors.Is(err, fs.ErrNotExist):
			return unmarked, nil
		}
		return illegible, nil
	}
	folder, err := osfile.FolderID(dir)
	if err != nil {
		return foreign, storedir.IOError("looking at the folder", err)
	}
	switch {
	case !k.Key.Proves(m.mark, makerPurpose, m.state, m.folder, string(instance)):
		return foreign, nil
	case m.folder != folder && !k.holds(dir):
		return copied, nil
	case m.state == stateAdopting:
		return adopting, nil
	case m.state == stateMade:
		return ours, nil
	}
	return foreign, nil
}

// holds reports whether dir lies in the data root itself: not below a folder in it, nor
// where a link in it leads.
func (k *Maker) holds(dir string) bool {
	if k.Root == "" {
		return false
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return false
	}
	above, err := os.Stat(filepath.Dir(dir))
	root, rerr := os.Stat(k.Root)
	return err == nil && rerr == nil && os.SameFile(above, root)
}

// write marks the store in dir.
func (k *Maker) write(fsy storedir.Fsys, dir string, instance hub.InstanceID, state string) error {
	folder, err := osfile.FolderID(dir)
	if err != nil {
		return storedir.IOError("looking at the folder", err)
	}
	content := fmt.Appendf(nil, "%s\nstate %s\nfolder %s\nmark %s\n", makerMagic, state, folder,
		k.Key.Mark(makerPurpose, state, folder, string(instance)))
	err = storedir.ReplaceFile(fsy, filepath.Join(dir, storedir.NameMaker), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}, func(r io.Reader) error { return storedir.SameBytes(r, content) })
	if err != nil {
		return storedir.IOError("writing "+storedir.NameMaker, err)
	}
	return nil
}

// admit refuses a store that no hub of this user has made, before anything in it is
// opened. It changes nothing. A store that is to be adopted is let in.
func (s *Store) admit(o *Options) error {
	if o.Maker == nil {
		return nil
	}
	if o.Maker.Key == nil {
		return notMade(s.dir, s.marker.InstanceID, untold)
	}
	if s.marker.InstanceID == "" { // it is to be made here
		return plainFolder(s.dir)
	}
	from, err := o.Maker.of(s.dir, s.marker.InstanceID)
	if err != nil {
		return err
	}
	if from == ours {
		return nil
	}
	if from != adopting && !o.Adopt {
		return notMade(s.dir, s.marker.InstanceID, from)
	}
	s.adopting = true
	return plainFolder(s.dir)
}

// Refuses returns the error with which a start refuses the store in dir because of its maker,
// nil if it does not, or why that cannot be told. It changes nothing.
func (k *Maker) Refuses(dir string) error {
	marker, err := storedir.Inspect(dir)
	if err != nil {
		return err
	}
	s := &Store{dir: dir, marker: marker}
	return s.admit(&Options{Maker: k})
}

// settleMaker gives a store that has been opened its mark, if it lacks the right one. Of a
// store that is adopted it first writes that down, so that the adoption is brought to its
// end whatever happens, and then gives it other secrets than its maker knows.
func (s *Store) settleMaker(o *Options) error {
	if o.Maker == nil || o.Maker.Key == nil {
		return nil
	}
	s.maker = o.Maker
	if !s.adopting {
		if m, err := readMakerFile(s.dir); err == nil && m.state == stateMade && o.Maker.stands(&m, s.dir, s.marker.InstanceID) {
			return nil
		}
		return o.Maker.write(s.fs, s.dir, s.marker.InstanceID, stateMade)
	}
	if err := o.Maker.write(s.fs, s.dir, s.marker.InstanceID, stateAdopting); err != nil {
		return err
	}
	return s.renewSecrets()
}

// stands reports whether what MAKER says is of this very folder.
func (k *Maker) stands(m *makerFile, dir string, instance hub.InstanceID) bool {
	folder, err := osfile.FolderID(dir)
	return err == nil && m.folder == folder && k.Key.Proves(m.mark, makerPurpose, m.state, folder, string(instance))
}

// Adopting reports whether the operator has taken the store over and its programs and
// policies have still to go. Adopted ends that.
func (s *Store) Adopting() bool { return s.adopting }

// Adopted writes down that the store is this user's from now on. The caller has made all
// of the adoption durable.
func (s *Store) Adopted() error {
	if err := s.maker.write(s.fs, s.dir, s.marker.InstanceID, stateMade); err != nil {
		return err
	}
	s.adopting = false
	return nil
}

// dropped are the folders of a store that is adopted which hold nothing that lasts: plans
// that may be carried out, and the index.
var dropped = []string{storedir.NamePlans, storedir.NameSearch}

// renewSecrets gives the store the other secrets that the start has made, and removes what its maker has prepared.
func (s *Store) renewSecrets() error {
	for _, name := range dropped {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return storedir.IOError("removing "+name, err)
		}
	}
	if err := storedir.WriteKey(s.fs, s.dir, s.key); err != nil {
		return err
	}
	return storedir.WriteToken(s.fs, s.dir, s.token)
}

// maxPlain bounds the files that plainFolder looks at. A store has some hundred.
const maxPlain = 1_000_000

// plainFolder refuses a folder of a store in which something is no plain file or folder of
// its own: a link could lead a write to any other file of this user.
func plainFolder(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return storedir.NoFolder("looking at the folder", err)
		}
	}
	looked := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if looked++; err != nil || looked > maxPlain {
			return errors.Join(err, tooMany(looked))
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		links, known := osfile.Links(nil, info)
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir(), d.Type()&fs.ModeSocket != 0: // a socket leads to no file; a killed hub leaves one
		case !d.Type().IsRegular():
			return notPlain(dir, rel, "is no plain file")
		case known && links > 1:
			return notPlain(dir, rel, "has another name elsewhere")
		}
		return nil
	})
	var refused *storedir.StartError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return storedir.IOError("looking through the folder", err)
}

func tooMany(n int) error {
	if n > maxPlain {
		return errors.New("it has too many files")
	}
	return nil
}

func notPlain(dir, rel, why string) *storedir.StartError {
	return &storedir.StartError{
		Sentence: fmt.Sprintf("the store %s is not used: its file %q %s", dir, rel, why), Kind: storedir.StartForeign,
		Fix: "nothing has been changed; name another folder with --storage, or find out who put that file there",
	}
}

// notMade refuses a store and says what it holds.
func notMade(dir string, instance hub.InstanceID, from provenance) *storedir.StartError {
	e := &storedir.StartError{Kind: storedir.StartForeign}
	if from == untold {
		e.Sentence = "the store " + dir + " is not used: without a data root its maker is not known"
		e.Fix = "nothing has been changed; set HUB_DATA_ROOT to a folder of your own"
		return e
	}
	why := "no hub of this user made it"
	switch from { //nolint:exhaustive // the sentence above is that of all others
	case copied:
		why = "it is a copy of a store that a hub of this user made"
	case illegible:
		why = "its file " + storedir.NameMaker + ", which names its maker, is damaged"
	case unmarked:
		why = "nothing shows that a hub of this user made it"
	}
	e.Sentence = fmt.Sprintf("the store %s is not used: %s; it holds %s", dir, why, holdings(dir, instance))
	e.Fix = "nothing has been changed; to take the store over, start once with --adopt: its programs, rules, connections and passes are dropped and its secrets renewed; or name another folder with --storage"
	return e
}

// restores says with which state a store is made of a backup, or refuses the backup.
func (k *Maker) restores(b *Backup, adopt bool) (state string, err error) {
	switch {
	case k == nil:
		return "", nil
	case k.Key == nil:
		return "", &storedir.StartError{
			Sentence: "the backup is not restored: without a data root its maker is not known", Kind: storedir.StartForeign,
			Fix: "set HUB_DATA_ROOT to a folder of your own",
		}
	case b.madeBy(k.Key):
		return stateMade, nil
	case adopt:
		return stateAdopting, nil
	}
	why := "nothing shows that a hub of this user made it"
	if b.mark != "" {
		why = "it was made with another data root"
	}
	return "", &storedir.StartError{
		Sentence: "the backup is not restored: " + why, Kind: storedir.StartForeign,
		Fix: "nothing has been changed; restore it with --adopt: then its programs, rules, connections and passes are dropped and its secrets renewed; or bring the file " + maker.NameKey + " of that data root into this one first, to keep them",
	}
}

// salvages does the same for a salvage of the store in from. Where its instance cannot be
// read, only its place can show that it is this user's.
func (k *Maker) salvages(from string, instance hub.InstanceID, adopt bool) (state string, err error) {
	switch {
	case k == nil:
		return "", nil
	case k.Key == nil:
		return "", notMade(from, instance, untold)
	case instance == "" && k.holds(from):
		return stateMade, nil
	}
	origin, err := k.of(from, instance)
	switch {
	case err != nil:
		return "", err
	case origin == ours:
		return stateMade, nil
	case origin == adopting || adopt:
		return stateAdopting, nil
	}
	e := notMade(from, instance, origin)
	e.Fix = "nothing has been changed; salvage it with --adopt: then its programs, rules, connections and passes are dropped and its secrets renewed"
	return "", e
}

// clearUnfinished removes the secrets of a folder that was never finished as a store. A
// start that was killed has left them, or somebody who knows them.
func clearUnfinished(dir string) error {
	for _, name := range []string{storedir.NameKey, storedir.NameToken, storedir.NameMaker} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storedir.IOError("making "+name, err)
		}
	}
	return nil
}
