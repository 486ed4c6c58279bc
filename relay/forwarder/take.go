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

// taken is a request file that this forwarder alone holds.
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

// remove removes the file. It opens the folder anew, because folders kept open
// by thousands of waiting calls would be a third of the process's open files.
func (t *taken) remove(s *spool, folder string) error {
	requests, err := openFolder(s.requests, folder)
	if err != nil {
		return relay.IgnoreMissing(err)
	}
	defer requests.Close()
	return relay.IgnoreMissing(requests.Remove(t.work))
}

// misfit says why a file is no request and must be rejected.
type misfit struct {
	why    string
	answer *hub.Error // for the client, if it can be told; may be nil
}

func (m *misfit) Error() string { return m.why }

// Reasons why a name needs no work.
var (
	errGone    = errors.New("the file is gone")
	errNotOurs = errors.New("another forwarder has the file, or it was just replaced")
)

// take makes the call's file this forwarder's. The error is errGone, errNotOurs, a
// *misfit, or the file system's.
//
// The file is locked before it gets the name of a request under way, and stays
// locked until the call has ended. If a forwarder finds such a name and the
// lock is free, the previous forwarder has died. The file's type is checked
// before the file is opened and compared afterwards, so a link or a pipe in its
// place does no harm.
func (f *Forwarder) take(c *call) (*taken, error) {
	switch {
	case c.dir.name == "":
		return nil, &misfit{why: "It is not an agent's folder. Such a folder has the agent's id as its name, with _ for each character other than a letter, digit, . _ or -."}
	case c.id == "":
		return nil, &misfit{why: "Its name is not a request's, <request_id>.json."}
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
	err := c.spool.fresh(t.info)
	if err != nil {
		return err
	}
	if c.name == t.work {
		err = f.takeOrphan(c, t, lockErr != nil)
	} else {
		err = t.rename(c.name)
	}
	if err == nil && lockErr != nil {
		// Only the age of the file tells other forwarders that it is held.
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
		return &misfit{why: "It is not a regular file but " + typeName(before.Mode()) + "."}
	}
	t.file, err = t.requests.OpenFile(name, osfile.Cautious, 0)
	if errors.Is(err, fs.ErrPermission) {
		return &misfit{
			why: fmt.Sprintf("The forwarder's user may not read it (%s).", before.Mode()),
			answer: hub.NewError(hub.CodeInvalid, "the forwarder may not read the request file; nothing was done").
				WithFix("run the sandbox under the forwarder's user id, or let both users read and write the agent's folders and files"),
		}
	}
	if err != nil {
		if now, lookErr := t.requests.Lstat(name); lookErr != nil || !os.SameFile(before, now) {
			return errNotOurs // it was just replaced; the next look sees the new file
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
				WithFix("send less in one request, or write the data to a file and send its path"),
		}
	}
	return nil
}

// typeName names the type of a file that is not regular.
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

// rename gives a request the name of one under way. If a request of the same id
// is under way, its answer comes first.
func (t *taken) rename(name string) error {
	if there, err := exists(t.requests, t.work); there || err != nil {
		return errors.Join(err, errNotOurs)
	}
	if err := t.requests.Rename(name, t.work); err != nil {
		return goneIfMissing(err)
	}
	return t.holds()
}

// holds reports an error if the name leads to another file now: the client may
// have written the request anew in between. The next look finds that file as an
// orphan.
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
// forwarder died after it had answered, takeOrphan only removes the file.
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
