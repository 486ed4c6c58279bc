package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"hubcli/stress/stat"
)

// Report is what was measured.
type Report struct {
	Rounds  int      `json:"rounds"`
	Round   string   `json:"round"` // length of a figure in a turn
	Agents  int      `json:"agents"`
	Waiters int      `json:"waiters"`
	Peers   []*Peer  `json:"peers"`
	Skipped []string `json:"skipped"` // servers that are not there, and why
}

// Peer is one server and its figures.
type Peer struct {
	Name    string    `json:"name"`
	Lacks   string    `json:"lacks,omitempty"` // what a hub does that it does not
	Figures []*Figure `json:"figures"`

	peer   peer
	posted int64 // messages that it has acknowledged
}

// Figure is one figure of a server.
type Figure struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"` // one for each round, or one
}

// add adds a value to a figure, which is begun if need be.
func (p *Peer) add(name, unit string, v float64) {
	at := slices.IndexFunc(p.Figures, func(f *Figure) bool { return f.Name == name })
	if at < 0 {
		at = len(p.Figures)
		p.Figures = append(p.Figures, &Figure{Name: name, Unit: unit})
	}
	p.Figures[at].Values = append(p.Figures[at].Values, v)
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rounds of %s, %d agents, %d waiters; figures of the rounds are median (lowest to highest)\n", r.Rounds, r.Round, r.Agents, r.Waiters)
	for _, p := range r.Peers {
		fmt.Fprintf(&b, "\n%s\n", p.Name)
		for _, f := range p.Figures {
			fmt.Fprintf(&b, "  %-42s %s\n", f.Name, f)
		}
		if p.Lacks != "" {
			fmt.Fprintf(&b, "  it lacks: %s\n", p.Lacks)
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\nSKIPPED: %s\n", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	_ = r.WriteText(&b) // a Builder takes everything
	return b.String()
}

func (f *Figure) String() string {
	text := number(stat.Median(f.Values)) + " " + f.Unit
	if len(f.Values) > 1 {
		text += fmt.Sprintf(" (%s to %s)", number(slices.Min(f.Values)), number(slices.Max(f.Values)))
	}
	return text
}

func number(v float64) string {
	if v >= 100 || v == float64(int64(v)) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// rowsOf counts the rows of a page and finds the id of the last.
func rowsOf(page []byte) (rows int, last int64, err error) {
	var answer struct {
		Result []struct {
			ID int64 `json:"id"`
		} `json:"result"`
	}
	if err := json.Unmarshal(page, &answer); err != nil || len(answer.Result) == 0 {
		return 0, 0, err
	}
	return len(answer.Result), answer.Result[len(answer.Result)-1].ID, nil
}
