package background

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

// TestStartsAreBounded: when the next start of a session may come, and when none follows.
func TestStartsAreBounded(t *testing.T) {
	began, failed := true, false
	for _, test := range []struct {
		name string
		ends []bool // of the starts beside the first: whether the session had begun
		over string // empty: another start may come
	}{
		{"the first end", nil, ""},
		{"one start", []bool{began}, ""},
		{"two that failed", []bool{failed, failed}, ""},
		{"three that failed", []bool{failed, failed, failed}, "failed to start 3 times in a row, at last because: no money"},
		{"failures not in a row", []bool{failed, failed, began, failed, failed}, ""},
		{"three at last", []bool{began, began, failed, failed, failed}, "failed to start 3 times"},
		{"one less than the most", slices.Repeat([]bool{began}, mostStarts-1), ""},
		{"the most", slices.Repeat([]bool{began}, mostStarts), "started again 20 times"},
		{"the most with failures", append(slices.Repeat([]bool{began}, mostStarts-1), failed), "started again 20 times"},
	} {
		var a again
		for _, e := range test.ends {
			a.ended(e)
		}
		err := a.over(errors.New("no money"))
		if (err != nil) != (test.over != "") || err != nil && !strings.Contains(err.Error(), test.over) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	now := time.Unix(1_000_000, 0)
	for _, test := range []struct{ since, wait time.Duration }{
		{0, time.Minute}, {time.Second, 59 * time.Second}, {time.Minute, 0}, {time.Hour, 0}, {-time.Second, 61 * time.Second},
	} {
		a := again{every: startEvery, last: now}
		if got := a.wait(now.Add(test.since)); got != test.wait {
			t.Errorf("%s after a start it waits %s", test.since, got)
		}
	}
}

// play is a session that a test plays: a start lasts for as long as it says, and something comes when it says.
type play struct {
	began  time.Time
	lasts  []time.Duration // of the starts, the last one again and again; less than 0: the start fails
	comes  []time.Duration // after the beginning; then nothing comes
	starts []time.Duration // when the starts came
	texts  []string
	slept  []int
}

var errCrash = errors.New("crashed")

func (p *play) sleeper() *Sleeper {
	pass := func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &Sleeper{
		Session: func(ctx context.Context, text string) (bool, error) {
			p.starts, p.texts = append(p.starts, time.Since(p.began)), append(p.texts, text)
			d := p.lasts[min(len(p.starts), len(p.lasts))-1]
			if d < 0 {
				return false, errCrash
			}
			if err := pass(ctx, d); err != nil {
				return true, err
			}
			return true, errCrash
		},
		Asleep: func(starts int, _ error) { p.slept = append(p.slept, starts) },
		Rest:   pass,
		News: func(ctx context.Context) (string, error) {
			if len(p.comes) == 0 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			at := p.comes[0]
			p.comes = p.comes[1:]
			return "news at " + at.String(), pass(ctx, at-time.Since(p.began))
		},
	}
}

// TestSleeperStartsWhenSomethingComes: it is started again with what has come, at least a minute after the
// start before, and only then.
func TestSleeperStartsWhenSomethingComes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 24*time.Hour, errors.New("the day is over"))
		defer cancel()
		p := &play{began: time.Now(), lasts: []time.Duration{time.Second}, comes: []time.Duration{5 * time.Second, 10 * time.Second, time.Hour}}
		err := p.sleeper().Keep(ctx)
		if err == nil || err.Error() != "the day is over" {
			t.Errorf("it ended with %v", err)
		}
		if want := []time.Duration{0, time.Minute, 2 * time.Minute, time.Hour}; !slices.Equal(p.starts, want) {
			t.Errorf("it was started at %v", p.starts)
		}
		if want := []string{"", "news at 5s", "news at 10s", "news at 1h0m0s"}; !slices.Equal(p.texts, want) {
			t.Errorf("it was started with %q", p.texts)
		}
		if want := []int{0, 1, 2, 3}; !slices.Equal(p.slept, want) {
			t.Errorf("it slept after %v starts", p.slept)
		}
	})
}

// TestSleeperGivesUp: a first start that fails is the failure of the command; later ones are tried three times
// with the same text; and twenty starts are the most.
func TestSleeperGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &play{began: time.Now(), lasts: []time.Duration{-1}}
		if err := p.sleeper().Keep(t.Context()); !errors.Is(err, errCrash) || errors.Is(err, ErrOver) || len(p.starts) != 1 {
			t.Errorf("a first start: %v, %v", err, p.starts)
		}

		p = &play{began: time.Now(), lasts: []time.Duration{time.Hour, -1}, comes: []time.Duration{2 * time.Hour}}
		err := p.sleeper().Keep(t.Context())
		if !errors.Is(err, ErrOver) || !errors.Is(err, errCrash) || !strings.Contains(err.Error(), "3 times in a row") {
			t.Errorf("three that fail: %v", err)
		}
		if want := []time.Duration{0, 2 * time.Hour, 2*time.Hour + time.Minute, 2*time.Hour + 2*time.Minute}; !slices.Equal(p.starts, want) {
			t.Errorf("they came at %v", p.starts)
		}
		if want := []string{"", "news at 2h0m0s", "news at 2h0m0s", "news at 2h0m0s"}; !slices.Equal(p.texts, want) {
			t.Errorf("they had the texts %q", p.texts)
		}

		p = &play{began: time.Now(), lasts: []time.Duration{time.Second}, comes: slices.Repeat([]time.Duration{0}, 100)}
		if err := p.sleeper().Keep(t.Context()); !errors.Is(err, ErrOver) || !strings.Contains(err.Error(), "20 times") {
			t.Errorf("too many: %v", err)
		}
		if len(p.starts) != mostStarts+1 || p.starts[mostStarts] != mostStarts*time.Minute {
			t.Errorf("there were %d starts, the last after %s", len(p.starts), p.starts[len(p.starts)-1])
		}
	})
}

// TestSleeperEnds: the end of ctx ends it wherever it is, and the reason is the cause.
func TestSleeperEnds(t *testing.T) {
	for name, after := range map[string]time.Duration{"in a session": time.Second, "in a rest": 30 * time.Second, "asleep": time.Hour} {
		bubble(t, func(t *testing.T) {
			why := errors.New("told to end")
			ctx, cancel := context.WithTimeoutCause(t.Context(), after, why)
			defer cancel()
			p := &play{began: time.Now(), lasts: []time.Duration{10 * time.Second}}
			if err := p.sleeper().Keep(ctx); !errors.Is(err, why) || errors.Is(err, ErrOver) || len(p.starts) != 1 {
				t.Errorf("%s: %v after %v", name, err, p.starts)
			}
		})
	}
	bubble(t, func(t *testing.T) {
		p := &play{began: time.Now(), lasts: []time.Duration{time.Second}}
		s, gone := p.sleeper(), errors.New("another store")
		s.News = func(context.Context) (string, error) { return "", gone }
		if err := s.Keep(t.Context()); !errors.Is(err, ErrOver) || !errors.Is(err, gone) {
			t.Errorf("without news it ended with %v", err)
		}
	})
}
