package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"hubcli/stress/stat"
)

// Result is one measured figure.
type Result struct {
	Figure  string   `json:"figure"`
	Unit    string   `json:"unit"`
	Hub     float64  `json:"hub"`     // median of the rounds
	Ceiling float64  `json:"ceiling"` // of what Hub is compared with; 0: with Reach itself
	Ratio   float64  `json:"ratio"`   // median of the rounds' ratios; 0: none
	Reach   string   `json:"reach"`
	Pass    bool     `json:"pass"`
	Rounds  []Round  `json:"rounds,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Round is one turn of both sides.
type Round struct {
	Hub        float64 `json:"hub"`
	Ceiling    float64 `json:"ceiling"`
	HubCPU     float64 `json:"hub_cpu_us,omitempty"` // processor time per operation
	CeilingCPU float64 `json:"ceiling_cpu_us,omitempty"`
}

// Report is what a run measured and where.
type Report struct {
	Time     time.Time `json:"time"`
	Platform string    `json:"platform"`
	CPUs     int       `json:"cpus"`
	Go       string    `json:"go"`
	Options  string    `json:"options"`
	Results  []Result  `json:"results"`
}

// bound is what a figure shall reach.
type bound struct {
	limit float64
	above bool // at least; otherwise at most
	unit  string
}

func atLeast(limit float64) bound             { return bound{limit: limit, above: true} }
func atMost(limit float64, unit string) bound { return bound{limit: limit, unit: unit} }

func (b bound) holds(v float64) bool {
	if b.above {
		return v >= b.limit
	}
	return v <= b.limit
}

func (b bound) String() string {
	sign := "<="
	if b.above {
		sign = ">="
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.4g %s", sign, b.limit, b.unit))
}

// compared makes a figure of rounds in which both sides took turns.
func compared(figure, unit string, rounds []Round, reach bound, notes ...string) Result {
	var hubs, ceilings, ratios, hubCPU, ceilingCPU []float64
	for _, r := range rounds {
		hubCPU, ceilingCPU = append(hubCPU, r.HubCPU), append(ceilingCPU, r.CeilingCPU)
		hubs, ceilings = append(hubs, r.Hub), append(ceilings, r.Ceiling)
		ratios = append(ratios, r.Hub/r.Ceiling)
	}
	ratio := stat.Median(ratios)
	if cpu := stat.Median(hubCPU); cpu > 0 {
		notes = append(notes, fmt.Sprintf("processor time per operation: hub %.0f us, ceiling %.0f us", cpu, stat.Median(ceilingCPU)))
	}
	return Result{
		Figure: figure, Unit: unit, Hub: stat.Median(hubs), Ceiling: stat.Median(ceilings), Ratio: ratio,
		Reach: reach.String(), Pass: reach.holds(ratio), Rounds: rounds, Notes: notes,
	}
}

// absolute makes a figure that is compared with its bound alone.
func absolute(figure string, value float64, reach bound, notes ...string) Result {
	return Result{Figure: figure, Unit: reach.unit, Hub: value, Reach: reach.String(), Pass: reach.holds(value), Notes: notes}
}

// WriteText writes the report as a table for people.
func (r *Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d processors, %s; %s\n\n", r.Platform, r.CPUs, r.Go, r.Options)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\thub\tceiling\tratio\treach\t")
	for _, f := range r.Results {
		ceiling, ratio, verdict := "-", "-", "short"
		if f.Ceiling > 0 {
			ceiling, ratio = quantity(f.Ceiling, f.Unit), fmt.Sprintf("%.2f", f.Ratio)
		}
		if f.Pass {
			verdict = "pass"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Figure, quantity(f.Hub, f.Unit), ceiling, ratio, f.Reach, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Results {
		for _, note := range f.Notes {
			fmt.Fprintf(w, "\n%s: %s", f.Figure, note)
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

func quantity(v float64, unit string) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f %s", v, unit)
	case v >= 10:
		return fmt.Sprintf("%.1f %s", v, unit)
	default:
		return fmt.Sprintf("%.3f %s", v, unit)
	}
}
