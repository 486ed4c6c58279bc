package figures

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"hubcli/stress/bench"
)

// page is the page for people.
func (d *Data) page() []byte {
	var b bytes.Buffer
	b.WriteString(`# Figures

What a hub does on one machine, beside what the machine can do. This page is written by a program; to measure anew, run
` + "`go run ./stress figures`" + ` on a machine that does nothing else. Its data are in [figures.json](figures/figures.json).

`)
	m := &d.Machine
	fmt.Fprintf(&b, "Measured on %s in %v, on %s.\n\n", d.Bench.Time.Format("2 January 2006"), d.Took.Round(time.Minute), m)
	b.WriteString(`**Ceiling** is the least that any hub must do, on the same machine in the same minutes: a bare HTTP server that does not
store anything and, for one post, one synced write of the same size. Hub and ceiling take turns. **Median** and **spread** (lowest to
highest) are those of the rounds. A figure is **short** where it does not reach its bar.

![The ratio of hub and ceiling, round by round](figures/ratios.svg)

## Beside the ceiling

| Figure | Hub | Spread | Ceiling | Ratio | Spread | Bar | |
| --- | ---: | --- | ---: | ---: | --- | --- | --- |
`)
	for i := range d.Bench.Results {
		if r := &d.Bench.Results[i]; r.Ceiling > 0 {
			hubs, ratios := spreads(r)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f | %s | %s | %s |\n", cell(r.Figure), amount(r.Hub, r.Unit), hubs, amount(r.Ceiling, r.Unit), r.Ratio, ratios, bar(r), verdict(r))
		}
	}
	b.WriteString("\n## By themselves\n\n| Figure | Hub | Bar | |\n| --- | ---: | --- | --- |\n")
	for i := range d.Bench.Results {
		if r := &d.Bench.Results[i]; r.Ceiling <= 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.Figure), amount(r.Hub, r.Unit), bar(r), verdict(r))
		}
	}
	d.notes(&b)
	if d.Peers != nil {
		b.WriteString("\n## Beside other servers\n\nThe same work in turns on one disk, each server with a sync before every answer. The others do a part of a hub's work only.\n")
		d.Peers.write(&b)
	}
	if len(d.Proofs) > 0 {
		b.WriteString("\n## Looked for and not found\n\nThese programs break the hub, or the machine around it, and look for a broken promise ([guarantees.md](guarantees.md)). None was found.\n")
	}
	for i := range d.Proofs {
		d.Proofs[i].write(&b)
	}
	return b.Bytes()
}

func (p *Proof) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n**%s**, `%s`, %v:\n\n```text\n%s\n```\n", p.Name, p.Command, p.Took.Round(time.Second), strings.Join(p.Says, "\n"))
}

// notes lists what the figures have to say beside their numbers.
func (d *Data) notes(b *bytes.Buffer) {
	begun := false
	for i := range d.Bench.Results {
		for _, note := range d.Bench.Results[i].Notes {
			if !begun {
				begun = true
				b.WriteString("\n## Notes\n\n")
			}
			fmt.Fprintf(b, "- %s: %s\n", cell(d.Bench.Results[i].Figure), cell(note))
		}
	}
}

// String describes the machine in a line.
func (m *Machine) String() string {
	parts := []string{fmt.Sprintf("%d processors", m.Processors)}
	if m.Processor != "" {
		parts[0] += " (" + cell(m.Processor) + ")"
	}
	if m.MemoryMiB > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB of memory", float64(m.MemoryMiB)/1024))
	}
	if m.System != "" {
		parts = append(parts, cell(m.System))
	}
	if m.Disk != "" {
		parts = append(parts, "stores on "+cell(m.Disk))
	}
	return strings.Join(parts, ", ")
}

// spreads are the lowest and the highest value of the rounds, of the hub and of the ratios.
func spreads(r *bench.Result) (hubs, ratios string) {
	if len(r.Rounds) == 0 {
		return "", ""
	}
	var values, shares []float64
	for _, round := range r.Rounds {
		values, shares = append(values, round.Hub), append(shares, round.Hub/round.Ceiling)
	}
	return amount(slices.Min(values), "") + "–" + amount(slices.Max(values), ""), fmt.Sprintf("%.2f–%.2f", slices.Min(shares), slices.Max(shares))
}

func bar(r *bench.Result) string {
	return strings.NewReplacer("<=", "≤", ">=", "≥").Replace(cell(r.Reach))
}

func verdict(r *bench.Result) string {
	if r.Pass {
		return ""
	}
	return "short"
}

// amount is a value with three digits or more, and its unit.
func amount(v float64, unit string) string {
	text := fmt.Sprintf("%.3g", v)
	if v >= 100 {
		text = grouped(int64(v + 0.5))
	}
	return strings.TrimSpace(text + " " + unit)
}

// grouped writes thousands with a comma between.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
