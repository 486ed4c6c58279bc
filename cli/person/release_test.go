package person

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestReleaseSaysWhoIsNext: the first in line gets a lease with a record behind that of the
// break. A slow disk may still write it when the command looks who has the lease.
func TestReleaseSaysWhoIsNext(t *testing.T) {
	awaited, alone, nobody, next := holder{"dev-a", 7, true}, holder{agent: "dev-a", fence: 7}, holder{}, holder{agent: "dev-b", fence: 12}
	for _, tt := range []struct {
		name string
		seen []holder // by one look after the other; the last one stays
		says string
		took time.Duration
	}{
		{"it is written already", []holder{awaited, next}, "dev-b has it now, with fence 12", 0},
		{"it is written late", []holder{awaited, nobody, nobody, next}, "dev-b has it now, with fence 12", 2 * successorLook},
		{"nobody waits any more", []holder{awaited, nobody}, "nobody has it now", successorWait},
		{"nobody waited", []holder{alone, nobody, next}, "nobody has it now", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, looks := time.Now(), 0
				var out strings.Builder
				err := release(t.Context(), &out, false, &takenLease{
					kind: "claim", name: "parser",
					look: func() (holder, error) {
						looks++
						return tt.seen[min(looks, len(tt.seen))-1], nil
					},
					take: func() (holder, any, error) { return alone, nil, nil },
				})
				if want := `took the claim "parser" from dev-a (fence 7); ` + tt.says + "\n"; err != nil || out.String() != want {
					t.Errorf("it says %q, %v, want %q", out.String(), err, want)
				}
				if took := time.Since(began); took < tt.took || took > tt.took+successorLook {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

// TestReleaseSaysWhatItTook also if the hub does not say who has the lease, before or after: the
// agent that held it has lost it, and a second try would take it from the next holder.
func TestReleaseSaysWhatItTook(t *testing.T) {
	down := errors.New("the hub is down")
	for _, tt := range []struct {
		name      string
		before    error // of the look ahead of the break
		after     error // of the look behind it
		interrupt bool
		says      string
	}{
		{"the hub stops", nil, down, false, "the hub does not say who has it now: the hub is down"},
		{"the command is interrupted", nil, nil, true, "the hub does not say who has it now: context canceled"},
		{"the hub tells nothing before", down, nil, false, "nobody has it now"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				defer end()
				taken := false
				var out strings.Builder
				err := release(ctx, &out, false, &takenLease{
					kind: "lock", name: "a.go",
					look: func() (holder, error) {
						if taken {
							return holder{}, tt.after
						}
						return holder{"dev-a", 7, true}, tt.before
					},
					take: func() (holder, any, error) {
						taken = true
						if tt.interrupt {
							end()
						}
						return holder{agent: "dev-a", fence: 7}, nil, nil
					},
				})
				if want := `took the lock "a.go" from dev-a (fence 7); ` + tt.says + "\n"; err != nil || out.String() != want {
					t.Errorf("it says %q, %v, want %q", out.String(), err, want)
				}
			})
		})
	}
}
