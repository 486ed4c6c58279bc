package search

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The fields of a document. Public, direct and replaced texts have separate
// fields, so that direct messages of other agents change neither hits nor
// scores.
const (
	fieldPublic  = "t" // words that every agent may find
	fieldDirect  = "p" // words of a direct message
	fieldHistory = "h" // words of a memory that has been replaced
	fieldParty   = "v" // the parties of a direct message
	fieldPlace   = "r"
	fieldChannel = "c"
	fieldFrom    = "f"
	fieldKind    = "k"
	fieldType    = "y"
	fieldTime    = "n" // milliseconds, see timeValue; read by document, never searched
)

// MaxText is the indexed length of a text, in bytes. Words after it are not
// found.
const MaxText = 512 << 10

const (
	// maxUnsaved is the largest number of bytes of text that are only in
	// memory. The engine needs about three times as much memory for them.
	maxUnsaved = 512 << 10
	// After returnEvery bytes of text, memory that indexing used is returned to
	// the system. The engine allocates for each batch and each merge, and
	// without this the garbage of a rebuild stays for minutes.
	returnEvery = 512 << 10
	// saveEvery is the engine's pause between two saves, in milliseconds, so
	// that many small batches become one file.
	saveEvery = 200
	// maxSaveWait ends the use of an index whose disk does not answer.
	maxSaveWait = 30 * time.Second
)

var positionKey = []byte("position")

// Index is the index in one folder; see core.Index.
type Index struct {
	dir      string
	instance hub.InstanceID
	log      *slog.Logger

	mu     sync.RWMutex // held for reading during calls to the engine, for writing while it opens and closes
	engine index.Index  // nil: not open
	queue  *index.AnalysisQueue
	docs   atomic.Int64
	short  *shortRuns

	broken  atomic.Pointer[error] // error that a goroutine of the engine reported
	put     int64                 // bytes of text since memory was returned to the system
	unsaved atomic.Int64          // bytes of text
	saved   chan struct{}         // notified when unsaved falls; capacity 1

	unsavable sparse // log lines about failed saves
}

var _ core.Index = (*Index)(nil)

// New returns the index of the store with this instance id, in folder dir, which
// need not exist. It touches nothing before Open.
func New(dir string, instance hub.InstanceID, log *slog.Logger) *Index {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Index{dir: dir, instance: instance, log: log, saved: make(chan struct{}, 1), short: &shortRuns{made: time.Now()}}
}

// errorCallback is the name under which the engine finds asyncError.
const errorCallback = "hubcli"

// live finds the Index of an engine's folder for asyncError.
var live sync.Map // string → *Index

func init() { //nolint:gochecknoinits // the engine knows callbacks by their names only
	scorch.RegistryAsyncErrorCallbacks[errorCallback] = asyncError
}

// asyncError is called by the engine's goroutines. A failed save is tried
// again; after a panic the goroutine is gone.
func asyncError(err error, path string) {
	x, ok := live.Load(path)
	if !ok {
		return
	}
	i := x.(*Index)
	if unsaid, due := i.unsavable.due(); due {
		i.log.Warn("the search index could not be saved; it is tried again, and nothing is lost", "error", redact(err), "since_last_line", unsaid)
	}
	if errors.Is(err, scorch.ErrAsyncPanic) {
		i.broken.CompareAndSwap(nil, &err)
		i.poke()
	}
}

func (x *Index) poke() {
	select {
	case x.saved <- struct{}{}:
	default:
	}
}

func (x *Index) enginePath() string { return filepath.Join(x.dir, engineFolder) }

// start opens the engine in its folder, which need not exist.
func (x *Index) start() (at core.IndexPosition, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a mapped file may be cut
	defer func() {
		if r := recover(); r != nil { // a damaged file
			err = fmt.Errorf("search: opening the index: %v", r)
		}
	}()
	queue := index.NewAnalysisQueue(1)
	engine, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path":         x.enginePath(),
		"bolt_timeout": "2s",
		// Put does not wait for the disk; lost documents are indexed again.
		"unsafe_batch":           true,
		"asyncErrorCallbackName": errorCallback,
		"scorchPersisterOptions": map[string]any{
			"PersisterNapTimeMSec": saveEvery, "PersisterNapUnderNumFiles": 200,
		},
		"scorchMergePlanOptions": map[string]any{
			"MaxSegmentsPerTier": 5, "SegmentsPerMergeTask": 5, "FloorSegmentSize": 2000,
			"MaxSegmentSize": 5_000_000, "TierGrowth": 10.0, "ReclaimDeletesWeight": 2.0,
		},
	}, queue)
	if err != nil {
		queue.Close()
		return at, err
	}
	x.broken.Store(nil)
	x.unsaved.Store(0)
	live.Store(x.enginePath(), x)
	if err := engine.Open(); err != nil {
		live.Delete(x.enginePath())
		queue.Close()
		return at, err
	}
	x.mu.Lock()
	x.engine, x.queue = engine, queue
	x.mu.Unlock()
	if at, err = x.position(); err != nil {
		_ = x.stop()
	}
	return at, err
}

// stop ends the engine.
func (x *Index) stop() error {
	x.mu.Lock()
	engine, queue := x.engine, x.queue
	x.engine, x.queue = nil, nil
	x.mu.Unlock()
	if engine == nil {
		return nil
	}
	live.Delete(x.enginePath())
	err := engine.Close()
	queue.Close()
	return err
}

// position reads the position up to which rows are indexed.
func (x *Index) position() (at core.IndexPosition, err error) {
	err = x.read(func(r index.IndexReader) error {
		n, err := r.DocCount()
		if err != nil {
			return err
		}
		x.docs.Store(int64(n))
		b, err := r.GetInternal(positionKey)
		switch {
		case err != nil:
			return err
		case len(b) == 0:
			return nil
		case len(b) != 16:
			return errors.New("search: the index's position cannot be read")
		}
		at.Message = hub.MessageID(binary.BigEndian.Uint64(b))
		at.Seq = hub.Seq(binary.BigEndian.Uint64(b[8:]))
		return nil
	})
	return at, err
}

// read calls fn with the current state of the index. A panic in fn means a
// damaged file and becomes an error.
func (x *Index) read(fn func(index.IndexReader) error) (err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.engine == nil {
		return errNotOpen
	}
	r, err := x.engine.Reader()
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("search: reading the index: %v", p)
			x.broken.CompareAndSwap(nil, &err)
		}
	}()
	defer func() { _ = r.Close() }()
	return fn(r)
}

var errNotOpen = hub.NewError(hub.CodeSearchUnavailable, "the search index is not open").
	WithRetryAfter(1)

// Put adds documents; see core.Index.
func (x *Index) Put(ctx context.Context, docs []core.IndexDocument, upto core.IndexPosition) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("search: writing the index: %v", r)
		}
	}()
	if err := x.awaitSaved(ctx); err != nil {
		return err
	}
	batch, size := index.NewBatch(), int64(0)
	for i := range docs {
		batch.Update(encode(&docs[i]))
		size += int64(len(docs[i].Text)) + 128
	}
	var at [16]byte
	binary.BigEndian.PutUint64(at[:], uint64(upto.Message))
	binary.BigEndian.PutUint64(at[8:], uint64(upto.Seq))
	batch.SetInternal(positionKey, at[:])
	x.unsaved.Add(size)
	batch.SetPersistedCallback(func(err error) {
		x.unsaved.Add(-size)
		if err == nil {
			x.short.end(x.dir)
		}
		x.poke()
	})
	x.mu.RLock()
	engine := x.engine
	x.mu.RUnlock()
	if engine == nil {
		return errNotOpen
	}
	if err := engine.Batch(batch); err != nil {
		return err
	}
	if x.put += size; x.put >= returnEvery {
		x.put = 0
		debug.FreeOSMemory()
	}
	return x.read(func(r index.IndexReader) error {
		n, err := r.DocCount()
		x.docs.Store(int64(n))
		return err
	})
}

// awaitSaved waits until at most maxUnsaved bytes are only in memory.
func (x *Index) awaitSaved(ctx context.Context) error {
	deadline := time.NewTimer(maxSaveWait)
	defer deadline.Stop()
	for {
		if b := x.broken.Load(); b != nil {
			return *b
		}
		if x.unsaved.Load() <= maxUnsaved {
			return nil
		}
		select {
		case <-x.saved:
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return errors.New("search: the disk does not take the index")
		}
	}
}

// Documents returns how many documents there are.
func (x *Index) Documents() int64 { return x.docs.Load() }

// encode makes the engine's document.
func encode(d *core.IndexDocument) *document.Document {
	out := document.NewDocument(docID(d.Type, d.Number))
	text := d.Text
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	field := fieldPublic
	switch {
	case d.History:
		field = fieldHistory
	case d.Parties != nil:
		field = fieldDirect
	}
	out.AddField(document.NewTextFieldCustom(field, nil, []byte(text), index.IndexField|index.IncludeTermVectors, analyzer{}))
	add := func(field, value string) {
		if value != "" {
			out.AddField(document.NewTextFieldCustom(field, nil, []byte(value), index.IndexField|index.SkipFreqNorm, nil))
		}
	}
	parties := d.Parties
	if len(parties) == 2 && parties[0] == parties[1] {
		parties = parties[:1]
	}
	for i, p := range parties {
		out.AddField(document.NewTextFieldCustom(fieldParty, []uint64{uint64(i)}, []byte(p), index.IndexField|index.SkipFreqNorm, nil))
	}
	add(fieldPlace, d.Place)
	add(fieldChannel, string(d.Channel))
	add(fieldFrom, string(d.From))
	add(fieldKind, d.Kind)
	add(fieldType, string(d.Type))
	out.AddField(document.NewTextFieldCustom(fieldTime, nil, timeValue(d.TS), index.IndexField|index.DocValues|index.SkipFreqNorm, nil))
	return out
}

// timeValue encodes a time as hexadecimal digits. The engine ends a stored value at a byte
// 0xff, which one of the bytes of a number is now and then.
func timeValue(ts hub.Time) []byte { return strconv.AppendInt(nil, int64(max(0, ts)), 16) }

// timeOf decodes a value of timeValue; 0 if it is none.
func timeOf(value []byte) uint64 {
	ts, err := strconv.ParseUint(string(value), 16, 63)
	if err != nil {
		return 0
	}
	return ts
}

// analyzer gives the engine the words of a text.
type analyzer struct{}

// Analyze is called by the engine.
func (analyzer) Analyze(text []byte) analysis.TokenStream {
	var out analysis.TokenStream
	var block []analysis.Token
	eachWord(string(text), func(w word) bool {
		if len(block) == 0 {
			block = make([]analysis.Token, 64)
		}
		t := &block[0]
		block = block[1:]
		*t = analysis.Token{Term: []byte(w.term), Position: w.place + 1} // its byte position is never used
		out = append(out, t)
		return true
	})
	return out
}

// letters name the types in document ids.
var letters = map[hub.FoundType]byte{
	hub.FoundMessage: 'm', hub.FoundDecision: 'd', hub.FoundArtifact: 'a', hub.FoundMemory: 'k',
}

func docID(t hub.FoundType, number uint64) string {
	return string(letters[t]) + strconv.FormatUint(number, 36)
}

func parseDocID(id string) (t hub.FoundType, number uint64, err error) {
	if id == "" {
		return "", 0, errors.New("search: an empty id")
	}
	for t, letter := range letters {
		if id[0] == letter {
			number, err = strconv.ParseUint(id[1:], 36, 64)
			return t, number, err
		}
	}
	return "", 0, errors.New("search: an id of no type")
}

// redact keeps texts of rows out of the log: the engine's errors name files, and
// values in JSON errors.
func redact(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return "invalid JSON"
	}
	return err.Error()
}
