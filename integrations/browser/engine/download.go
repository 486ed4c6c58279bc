package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hubcli/internal/osfile"
	"hubcli/internal/pause"
)

const (
	// mostTries bounds how often a download that breaks off is taken up again in a row.
	// Each freshTries bytes begin a new row, mostRequests bound all.
	mostTries    = 4
	freshTries   = 1 << 20
	mostRequests = 100
	// stall is how long a server may send nothing.
	stall = 30 * time.Second
	chunk = 256 << 10
)

// download fetches one archive into a file that outlives it: whatever breaks off, the
// next download goes on from there.
type download struct {
	pin    *Pin
	dir    string // that of the part, and of the note where it comes from
	url    string
	client *http.Client
	file   *os.File // the part
	report func(done, total int64)
	stall  time.Duration
	backs  time.Duration // the first wait before another try; it doubles

	size    int64     // of the part
	hash    hash.Hash // of the part
	resumed bool      // some of the part is from another request
}

// origin says which version of the archive a server has sent.
type origin struct {
	URL          string `json:"url"`
	ETag         string `json:"etag"`
	LastModified string `json:"last_modified"`
}

// validator is the value for If-Range; empty if the server gave none that holds for
// bytes.
func (o *origin) validator() string {
	if o.ETag != "" && !strings.HasPrefix(o.ETag, "W/") {
		return o.ETag
	}
	return o.LastModified
}

// fetch returns nil when the part is the pinned archive.
func (d *download) fetch(ctx context.Context) error {
	if err := d.takeUp(); err != nil {
		return err
	}
	if err := d.complete(ctx); err != nil {
		return err
	}
	if d.sum() == d.pin.ArchiveSHA256 {
		return nil
	}
	if d.resumed { // two halves of different archives, or a damaged file: once from the start
		if err := d.restart(); err != nil {
			return err
		}
		if err := d.complete(ctx); err != nil {
			return err
		}
	}
	if got := d.sum(); got != d.pin.ArchiveSHA256 {
		return errors.Join(wrongSum(d, got), d.restart())
	}
	return nil
}

func (d *download) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// takeUp continues the part that another run has left.
func (d *download) takeUp() error {
	d.hash = sha256.New()
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > d.pin.Bytes {
		return d.restart()
	}
	d.size, err = io.Copy(d.hash, io.NewSectionReader(d.file, 0, info.Size()))
	d.resumed = d.size > 0
	return err
}

// restart empties the part.
func (d *download) restart() error {
	d.hash.Reset()
	d.size, d.resumed = 0, false
	return errors.Join(d.file.Truncate(0), removeIfThere(d.origin()))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// complete requests what is missing until the part is as long as the archive.
func (d *download) complete(ctx context.Context) error {
	row, wait := int64(0), d.backs
	for tries, requests := 0, 0; d.size < d.pin.Bytes; requests++ {
		err := d.request(ctx)
		var again *broken
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.As(err, &again):
			return err
		case d.size-row >= freshTries:
			tries, row, wait = 0, d.size, d.backs
		}
		if tries++; tries == mostTries || requests == mostRequests {
			return unreachable(d, again.err)
		}
		if !pause.For(ctx, wait) {
			return context.Cause(ctx)
		}
		wait *= 2
	}
	return nil
}

// broken is an error after which it is worth to go on.
type broken struct{ err error }

func (b *broken) Error() string { return b.err.Error() }
func (b *broken) Unwrap() error { return b.err }

// request sends one request and adds to the part what comes.
func (d *download) request(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("it sent nothing for %s", d.stall)) })
	defer silent.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "hubcli")
	req.Header.Set("Accept-Encoding", "identity")
	if from := d.known().validator(); d.size > 0 && from != "" {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.size, 10)+"-")
		req.Header.Set("If-Range", from)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return d.transport(ctx, err)
	}
	defer resp.Body.Close()
	if err := d.begin(resp); err != nil {
		return err
	}
	return d.add(ctx, resp.Body, silent)
}

// known returns what is noted about the part.
func (d *download) known() *origin {
	var o origin
	data, err := osfile.ReadSmall(d.origin(), mostReceipt)
	if err != nil || json.Unmarshal(data, &o) != nil || o.URL != d.url {
		return &origin{}
	}
	return &o
}

// begin checks the head of an answer and makes the part ready for its body.
func (d *download) begin(resp *http.Response) error {
	switch code := resp.StatusCode; {
	case resp.Header.Get("Content-Encoding") != "":
		return refused(d, "answers with an encoding that was not asked for")
	case code == http.StatusPartialContent:
		from, total, ok := contentRange(resp.Header.Get("Content-Range"))
		if !ok || from != d.size || total >= 0 && total != d.pin.Bytes || d.size == 0 {
			return errors.Join(&broken{errors.New("it sent another part than asked for")}, d.restart())
		}
		d.resumed = true
		return nil
	case code == http.StatusRequestedRangeNotSatisfiable && d.size > 0:
		return errors.Join(&broken{errors.New("it has no such part")}, d.restart())
	case code != http.StatusOK:
		return d.status(resp)
	case resp.ContentLength >= 0 && resp.ContentLength != d.pin.Bytes:
		return wrongSize(d, resp.ContentLength)
	}
	if err := d.restart(); err != nil {
		return err
	}
	note, err := json.Marshal(origin{URL: d.url, ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified")})
	if err != nil {
		return err
	}
	return osfile.Replace(osfile.Disk{}, d.origin(), osfile.Content{Write: osfile.Bytes(note), Temp: filepath.Base(d.origin()) + newSuffix})
}

// add appends the body to the part and stops where the archive must end.
func (d *download) add(ctx context.Context, body io.Reader, silent *time.Timer) error {
	buffer := make([]byte, chunk)
	for {
		n, err := body.Read(buffer)
		silent.Reset(d.stall)
		if n > 0 {
			if d.size+int64(n) > d.pin.Bytes {
				return errors.Join(wrongSize(d, -1), d.restart())
			}
			if _, err := d.file.WriteAt(buffer[:n], d.size); err != nil {
				return err
			}
			d.hash.Write(buffer[:n])
			d.size += int64(n)
			d.report(d.size, d.pin.Bytes)
		}
		switch {
		case errors.Is(err, io.EOF) && d.size == d.pin.Bytes:
			return nil
		case errors.Is(err, io.EOF):
			return d.transport(ctx, io.ErrUnexpectedEOF)
		case err != nil:
			return d.transport(ctx, err)
		}
	}
}

// contentRange reads "bytes 5-9/10"; total is -1 if it is not told.
func contentRange(value string) (from, total int64, ok bool) {
	value, ok = strings.CutPrefix(value, "bytes ")
	span, all, cut := strings.Cut(value, "/")
	first, _, dash := strings.Cut(span, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	if !ok || !cut || !dash || err != nil {
		return 0, 0, false
	}
	if all == "*" {
		return from, -1, true
	}
	total, err = strconv.ParseInt(all, 10, 64)
	return from, total, err == nil
}

func (d *download) part() string   { return filepath.Join(d.dir, d.pin.part()) }
func (d *download) origin() string { return filepath.Join(d.dir, originName) }

// openPart opens the file of the part.
func (d *download) openPart() (err error) {
	d.file, err = os.OpenFile(d.part(), os.O_RDWR|os.O_CREATE|osfile.NoFollow, 0o600)
	return err
}

// remove removes the part.
func (d *download) remove() error {
	if d.file != nil {
		_ = d.file.Close() // Windows removes no open file
	}
	return errors.Join(removeIfThere(d.part()), removeIfThere(d.origin()))
}
