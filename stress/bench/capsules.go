package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/target"
	"hubcli/stress/wire"
)

const (
	capsulePosts = 2 * time.Millisecond   // pause of the agent that posts beside an export
	capsuleLook  = 100 * time.Millisecond // how often memory and progress are looked at
	capsuleBody  = " is done: the parser reads one token after the other, see #12 and src/parse/table.go. " +
		"The tests of brackets pass, those of strings fail in two cases that I have noted. I go on with the escapes and tell you when they work. " +
		"An agent that touches the lexer meanwhile should wait for the claim. The run before took 4 min 12 s on this machine."
)

// travel is a hub with one large project, while an agent posts beside.
type travel struct {
	*run
	process *target.Process
	client  *client.Client
}

// beside is what was measured while something else went on.
type beside struct {
	took   time.Duration
	p50    float64 // ms of a post
	p99    float64
	memory float64 // MB above idle
}

// capsules measures exports and imports of r.Messages messages: how long they take, beside what
// the disk needs for the same bytes, how much memory, and what a post costs meanwhile. The hub has
// no index: it would take in the messages for minutes, before and after, and the figure search says
// what that costs.
func (r *run) capsules(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, nil // the ceiling stores nothing
	}
	store := r.newStore()
	p, err := r.hub(ctx, store)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.Stop(), leaveNoIndex(store)); err != nil {
		return nil, err
	}
	if p, err = r.hub(ctx, store); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop(p, r.Itself)) }()
	t := &travel{run: r, process: p, client: p.Client()}
	defer t.client.Close()
	if err := t.fill(ctx); err != nil {
		return nil, err
	}
	var last string
	for _, privacy := range []hub.CapsulePrivacy{hub.CapsuleFullHistory, hub.CapsuleShareSafe} {
		of, err := t.repeat(ctx, "export, "+string(privacy), func(ctx context.Context, i int) (path string, err error) {
			path = filepath.Join(r.dir, fmt.Sprintf("%s-%d.hubpack", privacy, i))
			last = path
			return path, t.export(ctx, path, privacy)
		})
		if results = append(results, of...); err != nil {
			return results, err
		}
	}
	of, err := t.repeat(ctx, "import", func(ctx context.Context, _ int) (string, error) { return last, t.bringIn(ctx, last) })
	return append(results, of...), err
}

// fill makes the project.
func (t *travel) fill(ctx context.Context) error {
	project, err := t.client.CreateProject(ctx, hub.ProjectInput{Name: "Large"})
	if err != nil {
		return err
	}
	room, err := t.client.CreateRoom(ctx, hub.RoomInput{Project: project.Row.Slug, Name: "Room", CreatedBy: "bench"})
	if err != nil {
		return err
	}
	_, err = t.load(ctx, t.Messages, t.process.Addr, string(room.Row.Channel), wire.Counter+capsuleBody)
	return err
}

// repeat measures something r.Rounds times. It returns the path of the capsule.
func (t *travel) repeat(ctx context.Context, what string, do func(ctx context.Context, i int) (string, error)) ([]Result, error) {
	var took, disk, memory, quiet, busy, half []float64
	for i := range t.Rounds {
		pause.For(ctx, t.Settle)
		before, err := t.beside(ctx, func(ctx context.Context) error { pause.For(ctx, 2*t.Round); return ctx.Err() })
		if err != nil {
			return nil, err
		}
		var path string
		wait := t.profile(ctx, t.process, i)
		meanwhile, err := t.beside(ctx, func(ctx context.Context) (err error) { path, err = do(ctx, i); return err })
		wait()
		if err != nil {
			return nil, err
		}
		plain, err := t.writeAndSync(path)
		if err != nil {
			return nil, err
		}
		t.say("  %s: %.1f s, %.0f MB above idle, a post p50 %.2f -> %.2f ms, p99 %.2f -> %.2f ms", what, meanwhile.took.Seconds(), meanwhile.memory,
			before.p50, meanwhile.p50, before.p99, meanwhile.p99)
		took, disk, memory = append(took, meanwhile.took.Seconds()), append(disk, plain.Seconds()), append(memory, meanwhile.memory)
		quiet, busy, half = append(quiet, before.p99), append(busy, meanwhile.p99), append(half, meanwhile.p50/before.p50)
	}
	name := fmt.Sprintf("%s of %d messages", what, t.Messages)
	ratios := make([]float64, len(quiet))
	for i := range quiet {
		ratios[i] = busy[i] / quiet[i]
	}
	return []Result{
		absolute(name, stat.Median(took), atMost(60, "s"), spread(took), fmt.Sprintf("to write and sync the bytes of the capsule takes %.2f s", stat.Median(disk))),
		absolute(name+", anonymous memory above idle", stat.Median(memory), atMost(64, "MB"), spread(memory)),
		absolute(name+", p99 of a post beside it, to p99 before", stat.Median(ratios), atMost(2, ""), spread(ratios),
			fmt.Sprintf("p99 %.2f ms before, %.2f ms beside it; p50 rises by %.2f", stat.Median(quiet), stat.Median(busy), stat.Median(half))),
	}, nil
}

func spread(values []float64) string {
	return fmt.Sprintf("from %.4g to %.4g in %d rounds", stat.Percentile(values, 0), stat.Percentile(values, 100), len(values))
}

// beside does something while an agent posts.
func (t *travel) beside(ctx context.Context, do func(context.Context) error) (b beside, err error) {
	c, err := wire.Dial(ctx, t.process.Addr)
	if err != nil {
		return b, err
	}
	defer c.Close()
	post, err := t.poster(c, t.process.Addr, "beside", bodyBytes)
	if err != nil {
		return b, err
	}
	idle, err := t.process.Anonymous()
	if err != nil {
		return b, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done, posted := make(chan struct{}), make(chan []float64)
	go func() {
		var all []float64
		for {
			select {
			case <-done:
				posted <- all
				return
			case <-time.After(capsulePosts):
			}
			begin := time.Now()
			if _, err := post(); err != nil {
				cancel(err)
			}
			all = append(all, stat.Milliseconds(time.Since(begin)))
		}
	}()
	peak := make(chan int64)
	go func() {
		highest := idle
		for {
			select {
			case <-done:
				peak <- highest
				return
			case <-time.After(capsuleLook):
			}
			if now, err := t.process.Anonymous(); err == nil {
				highest = max(highest, now)
			}
		}
	}()
	begin := time.Now()
	err = do(ctx)
	b.took = time.Since(begin)
	close(done)
	times := <-posted
	b.p50, b.p99, b.memory = stat.Median(times), stat.Percentile(times, 99), float64(<-peak-idle)/megabyte
	return b, errors.Join(err, context.Cause(ctx))
}

// export plans an export, waits and confirms it.
func (t *travel) export(ctx context.Context, path string, privacy hub.CapsulePrivacy) error {
	p, err := t.client.PlanExport(ctx, hub.CapsuleExportInput{Project: "large", Out: path, Scope: hub.CapsuleComplete, Privacy: privacy})
	for err == nil && p.State == hub.CapsulePlanning {
		pause.For(ctx, capsuleLook)
		p, err = t.client.ExportPlan(ctx, p.PlanID)
	}
	if err == nil && p.State != hub.CapsuleReady {
		err = errors.New("the export is " + string(p.State) + ": " + p.Error)
	}
	if err == nil {
		_, err = t.client.ConfirmExport(ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: p.PlanDigest})
	}
	return err
}

// bringIn plans an import, confirms it and waits.
func (t *travel) bringIn(ctx context.Context, path string) error {
	p, err := t.client.PlanImport(ctx, hub.CapsuleImportInput{Path: path})
	confirmed := false
	for err == nil {
		switch {
		case p.State == hub.CapsuleDone:
			return nil
		case p.State == hub.CapsuleFailed:
			return errors.New("the import failed: " + p.Error)
		case p.State == hub.CapsuleReady && !confirmed:
			confirmed = true
			p, err = t.client.ConfirmImport(ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: p.PlanDigest})
			continue
		}
		pause.For(ctx, capsuleLook)
		p, err = t.client.ImportPlan(ctx, p.PlanID)
	}
	return err
}

// writeAndSync returns how long the disk needs for as many bytes as a file has.
func (t *travel) writeAndSync(path string) (time.Duration, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	f, err := os.Create(filepath.Join(t.dir, "plain"))
	if err != nil {
		return 0, err
	}
	block := bytes.Repeat([]byte{'x'}, 1<<20)
	begin := time.Now()
	for left := info.Size(); left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	err = errors.Join(err, syncData(f))
	took := time.Since(begin)
	return took, errors.Join(err, f.Close(), os.Remove(f.Name()))
}
