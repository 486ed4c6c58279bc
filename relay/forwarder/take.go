package forwarder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/relay"
)

// taken is a request file that is this forwarder's alone.
type taken struct {
	requests *os.Root // the agent folder, while the file is taken
	work     string   // its name
	file     *os.File // open and, where the file system can, locked
	info     fs.FileInfo
}

// close releases the file for the next forwarder.
func (t *taken) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// remove removes the file. The folder is opened anew for it: thousands of calls
// that wait would hold a third of the process's files open.
func (t *taken) remove(s *spool, folder string) error {
	requests, err := openFolder(s.requests, folder)
	if err != nil {
		return relay.IgnoreMissing(err)
	}
	defer requests.Close()
	return relay.IgnoreMissing(requests.Remove(t.work))
}

// misfit is why a file is no request; it is rejected.
type misfit struct {
	why    string
	answer *hub.Error // for the client, if it can be told; may be nil
}

func (m *misfit) Error() string { return m.why }

// Why there is nothing to do about a name.
var (
	errGone    = errors.New("it is gone")
	errNotOurs = errors.New("another has it, or it has just been exchanged")
)

// take makes the call's file this forwarder's. The error is errGone, errNotOurs, a
// *misfit, or the file system's.
//
// The file is locked before it gets the name of a request under way, and stays
// so until the call has ended: a forwarder that finds such a name with the lock
// free knows that the previous one has died. What the name leads to is looked
// at before it is opened and compared afterwards, so that a link or a pipe in
// its place is not opened to any effect.
func (f *Forwarder) take(c *call) (*taken, error) {
	switch {
	case c.dir.name == "":
		return nil, &misfit{why: "It is no folder of an agent's, which is named after the agent, with _ for each character other than a letter, digit, . _ or -."}
	case c.id == "":
		return nil, &misfit{why: "Its name is not that of a request, which is <request_id>.json."}
	}
	requests, err := openFolder(c.spool.requests, c.dir.name)
	if err != nil {
		return nil, goneIfMissing(err)
	}
	defer requests.Close()
	t := &taken{requests: requests, work: string(c.id) + relay.WorkSuffix}
	if err := f.hold(c, t); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// hold opens and locks the file and gives it its name of a request under way.
func (f *Forwarder) hold(c *call, t *taken) error {
	if err := t.openFile(c.name); err != nil {
		return err
	}
	locked, lockErr := f.lock(t.file)
	if lockErr == nil && !locked {
		return errNotOurs
	}
	f.cfg.Step(StepLocked)
	var err error
	if c.name == t.work {
		err = f.takeOrphan(c, t, lockErr != nil)
	} else {
		err = t.rename(c.name)
	}
	if err == nil && lockErr != nil {
		// The age of the file is all that tells others that it is held.
		now := time.Now()
		err = t.requests.Chtimes(t.work, now, now)
	}
	return err
}

// openFile opens the file under its name.
func (t *taken) openFile(name string) error {
	before, err := t.requests.Lstat(name)
	if err != nil {
		return goneIfMissing(err)
	}
	if !before.Mode().IsRegular() {
		return &misfit{why: "It is no regular file but " + typeName(before.Mode()) + "."}
	}
	t.file, err = t.requests.OpenFile(name, osfile.Cautious, 0)
	if errors.Is(err, fs.ErrPermission) {
		return &misfit{
			why: fmt.Sprintf("It may not be read by this user (%s).", before.Mode()),
			answer: hub.NewError(hub.CodeInvalid, "the forwarder may not read the request file; nothing was done").
				WithFix("run the sandbox under the user id of the forwarder, or open the agent's folders and files to both"),
		}
	}
	if err != nil {
		if now, lookErr := t.requests.Lstat(name); lookErr != nil || !os.SameFile(before, now) {
			return errNotOurs // exchanged just now; the next look sees what it is
		}
		return err
	}
	t.info, err = t.file.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(before, t.info) || !t.info.Mode().IsRegular() {
		return errNotOurs
	}
	links, known := osfile.Links(t.file, t.info)
	switch {
	case !known:
		return fmt.Errorf("relay: no link count of %s", name)
	case links == 0:
		return errGone
	case links != 1:
		return &misfit{why: "It has another name elsewhere (a hard link)."}
	case t.info.Size() > relay.MaxRequestBytes:
		return &misfit{
			why: fmt.Sprintf("It has %d bytes, more than %d.", t.info.Size(), relay.MaxRequestBytes),
			answer: hub.NewError(hub.CodeRequestTooLarge, "the request file is too large").
				With("limit", relay.MaxRequestBytes).With("size", t.info.Size()).
				WithFix("send less at once, or put it into a file and send its path"),
		}
	}
	return nil
}

// typeName names what is no regular file.
func typeName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// rename gives a request the name of one under way. A request of the same id that
// is under way is waited for: its answer comes first.
func (t *taken) rename(name string) error {
	if there, err := exists(t.requests, t.work); there || err != nil {
		return errors.Join(err, errNotOurs)
	}
	if err := t.requests.Rename(name, t.work); err != nil {
		return goneIfMissing(err)
	}
	return t.holds()
}

// holds compares the file with what its name leads to now: the client may have
// written the request anew in between. Such a file is an orphan to the next look.
func (t *taken) holds() error {
	now, err := t.requests.Lstat(t.work)
	if err != nil {
		return goneIfMissing(err)
	}
	if !os.SameFile(now, t.info) {
		return errNotOurs
	}
	return nil
}

// takeOrphan takes over a request that has the name of one under way. If its
// forwarder has died after it has answered, only the file is left to remove.
func (f *Forwarder) takeOrphan(c *call, t *taken, lockless bool) error {
	if err := t.holds(); err != nil {
		return err
	}
	if lockless && time.Since(t.info.ModTime()) < f.cfg.RequestTimeout+answerMargin {
		return errNotOurs
	}
	responses, err := openFolder(c.spool.responses, c.dir.name)
	if err != nil {
		return relay.IgnoreMissing(err)
	}
	defer responses.Close()
	response, err := responses.Lstat(string(c.id) + relay.DoneSuffix)
	if err != nil || !response.Mode().IsRegular() {
		return relay.IgnoreMissing(err)
	}
	if err := t.requests.Remove(t.work); err != nil {
		return goneIfMissing(err)
	}
	return errGone
}

// read returns the content of the file.
func (t *taken) read() ([]byte, error) {
	data := make([]byte, 0, t.info.Size()+1)
	for {
		n, err := t.file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			return nil, errors.New("the file grows while it is read")
		}
	}
}

func goneIfMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return err
}
