package peers

import (
	"fmt"
	"slices"
	"strings"
)

// The figures, in the order of the report.
const (
	figurePost50 = "one agent's post, p50, ms"
	figurePost99 = "one agent's post, p99, ms"
	figurePosts  = "posts a second"
	figurePairs  = "claim and release pairs a second"
	figureWake50 = "wake, p50, ms"
	figureWake99 = "wake, p99, ms"
)

func figures() []string {
	return []string{figurePost50, figurePost99, figurePosts, figurePairs, figureWake50, figureWake99}
}

// Report is what was measured.
type Report struct {
	Options Options
	Peers   []*Peer
	Skipped []string // servers that are not there, and why
}

// Peer is one server and its figures.
type Peer struct {
	Name  string
	Lacks string // what a hub does that it does not

	peer   peer
	values map[string][]float64 // by figure, one for each round
}

func (p *Peer) add(figure string, v float64) { p.values[figure] = append(p.values[figure], v) }

// Median returns the median of a figure over the rounds.
func (p *Peer) Median(figure string) float64 { return percentile(p.values[figure], 50) }

func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rounds of %v, %d agents, %d waiters; each figure is min / median / max\n", r.Options.Rounds, r.Options.Round, r.Options.Agents, r.Options.Waiters)
	for _, p := range r.Peers {
		fmt.Fprintf(&b, "\n%s\n", p.Name)
		for _, f := range figures() {
			v := slices.Sorted(slices.Values(p.values[f]))
			fmt.Fprintf(&b, "  %-34s %s / %s / %s\n", f, number(v[0]), number(p.Median(f)), number(v[len(v)-1]))
		}
		if p.Lacks != "" {
			fmt.Fprintf(&b, "  it lacks: %s\n", p.Lacks)
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\nSKIPPED: %s\n", s)
	}
	return b.String()
}

func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
