package transfer

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"hubcli/actors/capsules"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// A plan is one export.
//
// Exports.mu guards row, failed and cancel. newPlan sets the rest, or the goroutine of the export does
// before it closes written. After that only a confirmation changes row, and of it State and Mirror alone.
// done and total may be read at any time.
//
// written is closed once, with Exports.mu held; State is ready or failed then. A plan leaves
// Exports.plans without waiting for that. Its export finds that at its end, deletes its files and has
// failed.
//
// placing is the lock of confirmations. The confirmation that has it checks the plan, puts its file in
// place and makes it done. A second one waits, and then finds that it is done. placing is taken before
// Exports.mu, and never with it held: files are put in place without Exports.mu.
type plan struct {
	in      hub.CapsuleExportInput
	request capsules.Request
	file    string // the capsule
	tree    string // the folder of the files that are rendered from it
	cancel  context.CancelFunc
	written chan struct{} // closed when the export has ended

	folder      os.FileInfo // in which the target lies
	row         hub.CapsulePlan
	failed      error
	result      capsules.Result
	sum         [sha256.Size]byte // of the file
	rendered    *rendering        // what is in tree; nil: nothing was asked for
	mirror      *mirrorPlan       // nil: there is none
	signing     *signing          // nil: there is no signature
	done, total atomic.Int64
	placing     chan struct{} // holds one token, which a confirmation takes
}

// newPlan resolves what the input names. Nothing is written.
func (x *Exports) newPlan(ctx context.Context, in hub.CapsuleExportInput, form hub.CapsuleForm) (*plan, error) {
	project, err := x.options.Project(ctx, in.Project)
	if err != nil {
		return nil, err
	}
	if in.Scope == "" {
		in.Scope = hub.CapsuleKnowledge
	}
	if in.Privacy == "" {
		in.Privacy = hub.CapsuleShareSafe
	}
	p := &plan{in: in, written: make(chan struct{}), placing: make(chan struct{}, 1), cancel: func() {}}
	p.request = capsules.Request{
		Project: project.ProjectID, Scope: in.Scope, Privacy: in.Privacy, Binary: in.Artifacts,
		Operator: hub.CallerOf(ctx).Operator,
	}
	rooms := []hub.RoomID{}
	for _, ref := range in.Rooms {
		room, err := x.options.Room(ctx, hub.RoomRef{Project: string(project.ProjectID), Room: ref})
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, room.RoomID)
	}
	p.request.Rooms = rooms
	if err := p.request.Check(); err != nil {
		return nil, err
	}
	p.row = hub.CapsulePlan{
		PlanID: newID(), Form: form, State: hub.CapsulePlanning, Target: filepath.Clean(in.Out), Scope: in.Scope, Privacy: in.Privacy,
		Project: project, Rooms: rooms, ExpiresAt: hub.TimeOf(time.Now().Add(hub.CapsulePlanKept)),
		Redactions: map[string]int{}, LeftOut: map[string]int{},
	}
	p.aim()
	p.file = filepath.Join(x.options.Dir, p.row.PlanID+planSuffix)
	p.tree = filepath.Join(x.options.Dir, p.row.PlanID+treeSuffix)
	return p, p.sealer()
}

// shown returns the row with how far the export is. The caller holds Exports.mu.
func (p *plan) shown() hub.CapsulePlan {
	row := p.row
	row.Done, row.Total = p.done.Load(), p.total.Load()
	return row
}

// write writes the file of a plan and says what became of it.
func (x *Exports) write(ctx context.Context, p *plan) {
	size, err := x.export(ctx, p)
	if err == nil {
		err = x.render(ctx, p)
	}
	if err == nil {
		size, err = x.seal(ctx, p, size)
	}
	if err != nil {
		err = asError(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	defer close(p.written)
	if err == nil && x.plans[p.row.PlanID] != p {
		err = hub.NewError(hub.CodePlanNotFound, "the plan of the export was cancelled").WithFix("plan the export again")
	}
	if err != nil {
		x.discard(p)
		p.row.State, p.row.Error, p.failed = hub.CapsuleFailed, err.Error(), err
		return
	}
	p.settle(size)
	// The time to confirm begins when there is something to confirm.
	p.row.ExpiresAt = hub.TimeOf(time.Now().Add(hub.CapsulePlanKept))
}

// settle fills in what the file holds.
func (p *plan) settle(size int64) {
	m, row := &p.result.Manifest, &p.row
	row.State, row.Size, row.Files = hub.CapsuleReady, size, 1
	if row.Form == hub.CapsuleBundle {
		row.Size, row.Files = p.rendered.size, int64(len(p.rendered.sums))
	}
	state := ""
	if p.mirror != nil {
		row.Mirror, state = p.mirror.row(), p.mirror.digest()
	}
	row.Counts, row.Redactions, row.LeftOut = countsOf(&m.Counts), m.Redaction.Replaced, m.Redaction.LeftOut
	row.Artifacts = p.result.LeftOut
	row.AsOfSeq, row.AsOfMessage = p.result.Head.Seq, p.result.Head.Message
	row.CapsuleID, row.ContentDigest = m.CapsuleID, m.ContentDigest
	row.Prompt = promptOf(row)
	if p.signing != nil {
		state += "\n" + string(p.signing.text)
	}
	sum := sha256.Sum256([]byte(row.PlanID + "\n" + hex.EncodeToString(p.sum[:]) + "\n" + state + "\n" + row.Prompt))
	row.PlanDigest = "sha256:" + hex.EncodeToString(sum[:])
}

func countsOf(c *capsule.Counts) hub.CapsuleCounts {
	return hub.CapsuleCounts{
		Rooms: c.Rooms, Agents: c.Agents, Decisions: c.Decisions, Artifacts: c.Artifacts, Memories: c.Memories,
		Runs: c.Runs, Tasks: c.Tasks, Messages: c.Messages, Direct: c.Direct, BlobBytes: c.BlobBytes,
	}
}

// export writes the capsule to the file of the plan and returns the file's size.
func (x *Exports) export(ctx context.Context, p *plan) (size int64, err error) {
	if err := x.gone(); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(x.options.Dir, 0o700); err != nil {
		return 0, err
	}
	view, err := x.options.Snapshots.Snapshot()
	if err != nil {
		return 0, err
	}
	defer view.Close()
	var red capsules.Redactor
	if p.request.Privacy == capsule.ShareSafe {
		if red, err = x.redactor(view); err != nil {
			return 0, err
		}
	}
	f, err := os.OpenFile(p.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := &summed{w: f, sum: sha256.New(), space: x.options.Space}
	id := capsules.Identity{CapsuleID: newID(), Version: x.options.Version, CreatedAt: hub.TimeOf(time.Now())}
	resting := capsules.Resting(view, pause.NewBeside(x.options.Busy).Rest)
	p.result, err = capsules.Export(ctx, resting, out, p.request, id, red, func(done, total int64) {
		p.done.Store(done)
		p.total.Store(total)
	})
	copy(p.sum[:], out.sum.Sum(nil))
	return out.n, err
}

// summed writes to a file, sums it up, and asks now and then whether the disk has room: the
// store needs it more.
type summed struct {
	w     io.Writer
	sum   hash.Hash
	n     int64
	asked int64
	space func() (bool, int64)
}

// askEvery is after how many bytes the disk is asked again.
const askEvery = 4 << 20

func (s *summed) Write(b []byte) (int, error) {
	if s.n >= s.asked {
		s.asked = s.n + askEvery
		if ok, free := s.space(); !ok {
			return 0, storageFull(free)
		}
	}
	n, err := s.w.Write(b)
	_, _ = s.sum.Write(b[:n])
	s.n += int64(n)
	return n, err
}

func storageFull(free int64) error {
	return hub.NewError(hub.CodeStorageFull, "the disk of the hub has no room for the capsule").With("free_bytes", free).
		WithFix("free space on the disk, and plan the export again")
}

// newSalt returns the salt of one export, which nobody keeps.
func newSalt() []byte {
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // never fails
	return salt
}

// buffer is how a file of a plan is read.
func buffer(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 256<<10) }
