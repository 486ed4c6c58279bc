package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The values of flags. Each refuses invalid values while the flags are parsed,
// so a command only sees valid ones.

// badValue says in a few words why a flag's value is refused.
type badValue struct{ why string }

func (b *badValue) Error() string { return b.why }

// intValue is a decimal integer within bounds.
type intValue struct {
	p        *int
	min, max int
}

func (v intValue) String() string {
	if v.p == nil {
		return "0"
	}
	return strconv.Itoa(*v.p)
}

func (intValue) Type() string { return "int" }

func (v intValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.min || n > v.max {
		return &badValue{fmt.Sprintf("it must be an integer from %d to %d", v.min, v.max)}
	}
	*v.p = n
	return nil
}

// idValue is a message id, or 0.
type idValue struct{ p *int64 }

func (v idValue) String() string {
	if v.p == nil {
		return "0"
	}
	return strconv.FormatInt(*v.p, 10)
}

func (idValue) Type() string { return "int" }

func (v idValue) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return &badValue{"it must be 0 or a message id"}
	}
	*v.p = n
	return nil
}

// versionValue is the version of an artifact, or 0.
type versionValue struct{ idValue }

func (v versionValue) Set(s string) error {
	if v.idValue.Set(s) != nil {
		return &badValue{"it must be the number of a version, from 1 on, or 0 for the latest"}
	}
	return nil
}

// maxSeconds bounds every wait that a flag names: a week.
const maxSeconds = 7 * 24 * 3600

// secondsValue is a duration in decimal seconds.
type secondsValue struct{ p *time.Duration }

func (v secondsValue) String() string {
	if v.p == nil {
		return "0"
	}
	s := strconv.FormatFloat(v.p.Seconds(), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func (secondsValue) Type() string { return "float" }

func (v secondsValue) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > maxSeconds {
		return &badValue{fmt.Sprintf("it must be seconds from 0 to %d", maxSeconds)}
	}
	*v.p = time.Duration(f * float64(time.Second))
	return nil
}

// choiceValue is one of a few words.
type choiceValue struct {
	p       *string
	choices []string
}

func (v choiceValue) String() string {
	if v.p == nil {
		return ""
	}
	return *v.p
}

func (choiceValue) Type() string { return "string" }

func (v choiceValue) Set(s string) error {
	if !slices.Contains(v.choices, s) {
		return &badValue{"it must be one of " + strings.Join(v.choices, ", ")}
	}
	*v.p = s
	return nil
}

// durationValue is a duration with units, such as 90s, 20m or 1h; 0 needs none.
type durationValue struct{ p *time.Duration }

func (v durationValue) String() string {
	if v.p == nil {
		return "0"
	}
	return durationText(*v.p)
}

func (durationValue) Type() string { return "duration" }

func (v durationValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxSeconds*time.Second {
		return &badValue{"it must be a duration of at most a week, such as 90s, 20m or 1h, or 0"}
	}
	*v.p = d
	return nil
}

// durationText leaves out the zero units that time.Duration prints.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	if d == 0 {
		return "0"
	}
	return s
}
