package crowd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"hubcli/stress/stat"
)

// Report says what the pair noticed of each crowd.
type Report struct {
	Crowds []Crowd `json:"crowds"`
}

// Crowd is one crowd.
type Crowd struct {
	Name   string  `json:"name"`
	Before Noticed `json:"before"`      // it came
	Beside Noticed `json:"beside"`      // it
	Did    string  `json:"did"`         // what the crowd did
	Memory [3]Size `json:"memory"`      // of the hub: before the crowd came, the most beside it, and after it went
	Again  int     `json:"connections"` // of the pair that were closed between two calls to make room
}

// Size is a number of bytes.
type Size int64

// String gives it in megabytes.
func (s Size) String() string { return fmt.Sprintf("%.1f MB", float64(s)/1e6) }

// Noticed is how long the calls of the pair took, in milliseconds.
type Noticed struct {
	Posts       int     `json:"posts"`
	AnswerP50   float64 `json:"answer_p50_ms"`
	AnswerP99   float64 `json:"answer_p99_ms"`
	DeliveryP50 float64 `json:"delivery_p50_ms"` // from the sending of a post to its arrival
	DeliveryP99 float64 `json:"delivery_p99_ms"`
	Slowest     float64 `json:"slowest_ms"`
}

func noticed(answered, delivered []float64) Noticed {
	return Noticed{
		Posts:     len(answered),
		AnswerP50: stat.Percentile(answered, 50), AnswerP99: stat.Percentile(answered, 99),
		DeliveryP50: stat.Percentile(delivered, 50), DeliveryP99: stat.Percentile(delivered, 99),
		Slowest: max(stat.Percentile(answered, 100), stat.Percentile(delivered, 100)),
	}
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	if len(r.Crowds) == 0 {
		return nil // the error says why
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "crowd\tposts\tanswer p50\tp99\tdelivery p50\tp99\tslowest\tmemory of the hub")
	for _, c := range r.Crowds {
		fmt.Fprintf(t, "before %s\t%s\t%v\n", c.Name, c.Before, c.Memory[0])
		fmt.Fprintf(t, "beside %s\t%s\t%v, afterwards %v\n", c.Name, c.Beside, c.Memory[1], c.Memory[2])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range r.Crowds {
		fmt.Fprintf(w, "%s: %s", c.Name, c.Did)
		if c.Again > 0 {
			fmt.Fprintf(w, "; the pair connected again %d times", c.Again)
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "%d crowds: every post of the pair was acknowledged and delivered, in order, once\n", len(r.Crowds))
	return err
}

// String gives the text of WriteText.
func (r *Report) String() string {
	var b strings.Builder
	_ = r.WriteText(&b) // a Builder takes everything
	return b.String()
}

// String gives the columns of a row of the report.
func (n Noticed) String() string {
	return fmt.Sprintf("%d\t%.2f ms\t%.2f ms\t%.2f ms\t%.2f ms\t%.0f ms", n.Posts, n.AnswerP50, n.AnswerP99, n.DeliveryP50, n.DeliveryP99, n.Slowest)
}
