package figures

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"

	"hubcli/stress/bench"
)

// Places of the plot, in pixels.
const (
	plotLeft  = 330 // of the axis
	plotWide  = 460 // of the axis
	plotRight = 20
	plotTop   = 44
	plotRow   = 24
	plotMost  = 4.0 // the highest ratio; what is above stands at the end
)

// plot draws the ratio of hub and ceiling of each round as a dot, the median as a line, and the
// bar of the figure as a triangle. The axis is logarithmic: twice as good is as far from one as
// half as good.
func (d *Data) plot() []byte {
	var rows []*bench.Result
	for i := range d.Bench.Results {
		if r := &d.Bench.Results[i]; r.Ceiling > 0 && r.Ratio > 0 {
			rows = append(rows, r)
		}
	}
	height := plotTop + plotRow*len(rows) + 16
	width := plotLeft + plotWide + plotRight
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Ratio of hub and ceiling of each figure">
<style>text{fill:#1f2328}.soft{fill:#656d76}.grid{stroke:#d0d7de}.one{stroke:#656d76}.dot{fill:#1f6feb;fill-opacity:.45}.median{stroke:#0b3d91;stroke-width:2}.bar{fill:#bf5700}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#8d96a0}.grid{stroke:#30363d}.dot{fill:#58a6ff}.median{stroke:#a5d6ff}.bar{fill:#f0883e}}</style>
`, width, height, width, height)
	fmt.Fprintf(&b, `<text class="soft" x="%d" y="14">hub / ceiling: dots are rounds, lines medians, triangles bars (pointing to the side that passes)</text>`+"\n", 4)
	for _, tick := range []float64{0.125, 0.25, 0.5, 1, 2, 4} {
		class := "grid"
		if tick == 1 {
			class = "one"
		}
		x := place(tick)
		fmt.Fprintf(&b, `<line class="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="soft" x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", class, x, plotTop-8, x, height-8, x, plotTop-14, tick)
	}
	for i, r := range rows {
		drawRow(&b, r, float64(plotTop+plotRow*i+plotRow/2))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// place is where a ratio is on the axis.
func place(ratio float64) float64 {
	const low = 0.125
	share := math.Log2(min(max(ratio, low), plotMost)/low) / math.Log2(plotMost/low)
	return plotLeft + plotWide*share
}

func drawRow(b *bytes.Buffer, r *bench.Result, y float64) {
	name := []rune(r.Figure)
	if len(name) > 52 {
		name = append(name[:51], '…')
	}
	fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s<title>%s</title></text>`, plotLeft-8, y+4, html.EscapeString(string(name)), html.EscapeString(r.Figure))
	for _, round := range r.Rounds {
		fmt.Fprintf(b, `<circle class="dot" cx="%.1f" cy="%.1f" r="4"/>`, place(round.Hub/round.Ceiling), y)
	}
	x := place(r.Ratio)
	fmt.Fprintf(b, `<line class="median" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, y-8, x, y+8)
	var sign string
	var limit float64
	if n, _ := fmt.Sscanf(strings.TrimSpace(r.Reach), "%2s %g", &sign, &limit); n == 2 && limit > 0 {
		at, side := place(limit), 6.0
		if sign == "<=" {
			side = -6
		}
		fmt.Fprintf(b, `<path class="bar" d="M%.1f,%.1f l%.1f,5 l%.1f,5 z"/>`, at, y-5, side, -side)
	}
	b.WriteByte('\n')
}
