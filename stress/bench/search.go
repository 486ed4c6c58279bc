package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/stress/target"
)

const (
	searchMessages = 100_000 // at most: no more than the large store has
	searchQueries  = 200
	searchLoaders  = 32
	searchSeed     = 1
)

// search fills a hub with talk and measures what finding it costs: time of
// queries over HTTP, and memory of the index after it was fed and while it is
// made anew.
func (r *run) search(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, nil // the ceiling finds nothing
	}
	store := r.newStore()
	p, err := r.hub(ctx, store)
	if err != nil {
		return nil, err
	}
	defer func() { p.Kill() }() // p changes
	texts := talk(min(searchMessages, r.Messages))
	loaded, err := r.postTexts(ctx, p, texts)
	if err != nil {
		return nil, err
	}
	fed, _, err := r.awaitIndex(ctx, p)
	if err != nil {
		return nil, err
	}
	pause.For(ctx, r.Settle)
	took, err := searchTimes(ctx, p, texts)
	if err != nil {
		return nil, err
	}
	after, err := r.atRest(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := p.Stop(); err != nil {
		return nil, err
	}
	started, idle, err := r.withoutIndex(ctx, store, nil)
	if err != nil {
		return nil, err
	}
	if p, err = r.hub(ctx, store); err != nil {
		return nil, err
	}
	anew, peak, err := r.awaitIndex(ctx, p)
	if err != nil {
		return nil, err
	}
	rebuilt, err := r.atRest(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := p.Stop(); err != nil {
		return nil, err
	}
	_, plain, err := r.withoutIndex(ctx, store, texts)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("search of %d messages", len(texts))
	mb := func(n int64) float64 { return float64(n) / megabyte }
	return []Result{
		absolute(what+", p99", took[len(took)*99/100].Seconds()*1e3, atMost(20, "ms"),
			fmt.Sprintf("%d queries of 1 to 3 words, p50 %.2f ms, slowest %.2f ms", len(took), took[len(took)/2].Seconds()*1e3, took[len(took)-1].Seconds()*1e3)),
		absolute(what+", memory while the index is made anew, beyond a hub without one", mb(peak-started), atMost(40, "MB"), fmt.Sprintf("in %v", anew.Round(time.Second))),
		absolute(what+", memory afterwards, beyond a hub without one", mb(rebuilt.least-idle.least), atMost(10, "MB"), rebuilt.beside(idle)),
		absolute(what+", memory after posting and searching, beyond a hub that has posted as many without one", mb(after.least-plain.least), atMost(10, "MB"),
			fmt.Sprintf("%s; posted in %v, indexed %v later", after.beside(plain), loaded.Round(time.Second), fed.Round(time.Second))),
	}, nil
}

// withoutIndex returns the memory of a hub with the same store that has no index,
// because something else stands in its place: once it has started, and once it has posted
// texts. It leaves the store without an index.
func (r *run) withoutIndex(ctx context.Context, store string, texts []string) (started int64, rest resting, err error) {
	if err := leaveNoIndex(store); err != nil {
		return 0, resting{}, err
	}
	p, err := r.hub(ctx, store)
	if err != nil {
		return 0, resting{}, err
	}
	pause.For(ctx, r.Settle)
	started, err = p.Anonymous()
	_, posted := r.postTexts(ctx, p, texts)
	rest, read := r.atRest(ctx, p)
	return started, rest, errors.Join(err, posted, read, p.Stop(), os.Remove(indexOf(store)))
}

// resting is the anonymous memory of a hub that has nothing to do, in bytes, of several readings.
type resting struct{ least, most int64 }

// beside tells the readings of a hub with an index and those of one without.
func (with resting) beside(without resting) string {
	mb := func(n int64) float64 { return float64(n) / megabyte }
	return fmt.Sprintf("each the least of %d readings, with the log read before each; with an index from %.0f to %.0f MB, without one from %.0f to %.0f MB",
		restReadings, mb(with.least), mb(with.most), mb(without.least), mb(without.most))
}

// restReadings is how often atRest reads.
const restReadings = 4

// atRest reads the memory of a hub that has nothing to do, several times, with the public log
// read before each. A hub gives back what a burst of work used, but not the last 16 MiB of
// garbage at most, so that one reading tells little.
func (r *run) atRest(ctx context.Context, p *target.Process) (resting, error) {
	rest := resting{least: math.MaxInt64}
	for range restReadings {
		if err := readLog(ctx, p); err != nil {
			return resting{}, err
		}
		pause.For(ctx, r.Settle)
		now, err := p.Anonymous()
		if err != nil {
			return resting{}, err
		}
		rest.least, rest.most = min(rest.least, now), max(rest.most, now)
	}
	return rest, ctx.Err()
}

// readLog reads all public messages.
func readLog(ctx context.Context, p *target.Process) error {
	c := p.Client()
	defer c.Close()
	for q := (hub.LogQuery{Limit: hub.MaxPageRows}); ; {
		page, err := c.Log(ctx, q)
		if err != nil || page.NextSinceID == q.SinceID {
			return err
		}
		q.SinceID = page.NextSinceID
	}
}

// leaveNoIndex puts something else in the place of the index of a store that no hub has open.
func leaveNoIndex(store string) error {
	return errors.Join(os.RemoveAll(indexOf(store)), os.WriteFile(indexOf(store), nil, 0o600))
}

func indexOf(store string) string { return filepath.Join(store, "search") }

// postTexts posts every text, by several agents at once.
func (r *run) postTexts(ctx context.Context, p *target.Process, texts []string) (time.Duration, error) {
	c := p.Client()
	defer c.Close()
	begin := time.Now()
	errs := make([]error, searchLoaders)
	var wg sync.WaitGroup
	for worker := range searchLoaders {
		wg.Go(func() {
			for i := worker; i < len(texts) && errs[worker] == nil; i += searchLoaders {
				in := hub.PostInput{FromAgent: hub.AgentID(agentName(worker)), Channel: hub.DefaultChannel, Body: texts[i]}
				if i%5 == 0 {
					in.Channel, in.ToAgent = hub.DirectChannel, hub.AgentID(agentName((worker+1)%searchLoaders))
				}
				_, errs[worker] = c.Post(ctx, in)
			}
		})
	}
	wg.Wait()
	return time.Since(begin), errors.Join(errs...)
}

// awaitIndex waits until the index has taken in everything, and returns how long
// that took and the most anonymous memory that was seen.
func (r *run) awaitIndex(ctx context.Context, p *target.Process) (took time.Duration, peak int64, err error) {
	return r.awaitIndexBut(ctx, p, func() int64 { return 0 })
}

// awaitIndexBut waits until only the newest rows are behind, at most so many.
func (r *run) awaitIndexBut(ctx context.Context, p *target.Process, newest func() int64) (took time.Duration, peak int64, err error) {
	const look = 50 * time.Millisecond
	c := p.Client()
	defer c.Close()
	begin := time.Now()
	for {
		status, err := c.AppStatus(ctx)
		if err != nil {
			return 0, 0, err
		}
		now, err := p.Anonymous()
		if err != nil {
			return 0, 0, err
		}
		peak = max(peak, now)
		if status.Search.Open && status.Search.Behind <= newest() {
			return time.Since(begin), peak, nil
		}
		if pause.For(ctx, look); ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
	}
}

// searchTimes asks for words as they occur, common and rare ones, and returns how
// long the answers took, rising.
func searchTimes(ctx context.Context, p *target.Process, texts []string) ([]time.Duration, error) {
	c := p.Client()
	defer c.Close()
	random := rand.New(rand.NewPCG(searchSeed, 2))
	took := make([]time.Duration, 0, searchQueries)
	for range searchQueries {
		var words []string
		for range 1 + random.IntN(3) {
			of := strings.Fields(texts[random.IntN(len(texts))])
			words = append(words, of[random.IntN(len(of))])
		}
		begin := time.Now()
		page, err := c.Search(ctx, hub.SearchQuery{Text: strings.Join(words, " "), Viewer: hub.AgentID(agentName(0)), Limit: 20})
		if err != nil {
			return nil, err
		}
		if page.Behind > 0 {
			return nil, fmt.Errorf("the index is %d rows behind", page.Behind)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took, nil
}

// talk makes texts like those of agents: words by Zipf's law, with paths and
// identifiers between them.
func talk(n int) []string {
	random := rand.New(rand.NewPCG(searchSeed, 1))
	zipf := rand.NewZipf(random, 1.07, 3, 20_000)
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 8 + random.IntN(50) {
			w := zipf.Uint64()
			switch random.IntN(30) {
			case 0:
				fmt.Fprintf(&b, "pkg/w%d/file_%d.go:%d ", w, w%100, random.IntN(900))
			case 1:
				fmt.Fprintf(&b, "handleW%dError ", w)
			default:
				b.WriteString(spell(w) + " ")
			}
		}
		texts[i] = b.String()
	}
	return texts
}

// spell gives the n-th word of a vocabulary, of letters only.
func spell(n uint64) string {
	syllables := strings.Fields("ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru sa se si so su")
	word := ""
	for n += uint64(len(syllables)); n > 0; n /= uint64(len(syllables)) {
		word += syllables[n%uint64(len(syllables))]
	}
	return word
}
