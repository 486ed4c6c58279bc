package api

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hubcli/hub"
)

// Query holds the parameters of a request. The methods that read one store the
// first error, and Err returns it: a handler reads all its parameters and
// checks once. Unknown parameters are ignored. A parameter with one value may
// be given only once: of two values one program might use the first and another
// the last.
type Query struct {
	pairs []pair
	err   error
}

type pair struct{ name, value string }

// ParseQuery splits the raw query of a URL. More than hub.MaxQueryParameters
// parameters and malformed escapes are refused.
func ParseQuery(raw string) (*Query, error) {
	q := &Query{}
	if raw == "" {
		return q, nil
	}
	n := strings.Count(raw, "&") + 1
	if n > hub.MaxQueryParameters {
		return nil, hub.NewError(hub.CodeInvalid, "there are too many query parameters").
			With("limit", hub.MaxQueryParameters).With("size", n)
	}
	q.pairs = make([]pair, 0, n)
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" && value == "" {
			continue
		}
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil || strings.Contains(part, ";") {
			return nil, hub.NewError(hub.CodeInvalid, "the query of the URL is malformed").
				WithFix("percent-encode names and values")
		}
		q.pairs = append(q.pairs, pair{name, value})
	}
	return q, nil
}

// Unknown returns the first parameter that is none of these, if there is one.
func (q *Query) Unknown(known ...string) (name string, found bool) {
	for i := range q.pairs {
		if !slices.Contains(known, q.pairs[i].name) {
			return q.pairs[i].name, true
		}
	}
	return "", false
}

// Err returns the first error of reading parameters.
func (q *Query) Err() error { return q.err }

func (q *Query) fail(name, message string) {
	if q.err == nil {
		q.err = hub.Invalid(name, name+" "+message)
	}
}

// Keep stores err unless an earlier error is stored.
func (q *Query) Keep(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *Query) lookup(name string) (string, bool) {
	value, found := "", false
	for i := range q.pairs {
		if q.pairs[i].name != name {
			continue
		}
		if found {
			q.fail(name, "is given twice")
			break
		}
		value, found = q.pairs[i].value, true
	}
	return value, found
}

// Text returns the value of a parameter; empty is absent.
func (q *Query) Text(name string) string {
	value, _ := q.lookup(name)
	return value
}

// Name returns the value of a parameter that is a name of at most limit
// characters; empty is absent.
func (q *Query) Name(name string, limit int) string {
	value, _ := q.lookup(name)
	if value != "" {
		q.Keep(hub.CheckName(name, value, limit))
	}
	return value
}

// Thread returns thread_id, or "".
func (q *Query) Thread() hub.ThreadID {
	value, _ := q.lookup("thread_id")
	q.Keep(checkThread(hub.ThreadID(value)))
	return hub.ThreadID(value)
}

// Names returns all values of a parameter that may be repeated, each once.
func (q *Query) Names(name string, limit int) []string {
	var values []string
	for i := range q.pairs {
		if v := q.pairs[i].value; q.pairs[i].name == name && v != "" && !slices.Contains(values, v) {
			q.Keep(hub.CheckName(name, v, limit))
			values = append(values, v)
		}
	}
	return values
}

// Bool returns a parameter that is true, 1 or yes, or false, 0 or no, in any
// case; absent is false.
func (q *Query) Bool(name string) bool {
	b := q.OptionalBool(name)
	return b != nil && *b
}

// OptionalBool is Bool for a parameter whose absence has a meaning: it returns
// nil then.
func (q *Query) OptionalBool(name string) *bool {
	value, found := q.lookup(name)
	if !found {
		return nil
	}
	var b bool
	switch strings.ToLower(value) {
	case "true", "1", "yes":
		b = true
	case "false", "0", "no":
	default:
		q.fail(name, "must be true, 1, yes, false, 0 or no")
	}
	return &b
}

// Cursor returns a parameter that is a message id or 0; absent is 0.
func (q *Query) Cursor(name string) hub.MessageID {
	value, found := q.lookup(name)
	if !found {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n > hub.MaxMessageID {
		q.fail(name, "must be an integer from 0 to 2^53-1")
		return 0
	}
	return hub.MessageID(n)
}

// ID is Cursor without 0.
func (q *Query) ID(name string) hub.MessageID {
	id := q.Cursor(name)
	if _, found := q.lookup(name); found && id == 0 {
		q.fail(name, "must be a message id")
	}
	return id
}

// Limit returns the parameter limit, clamped to hub.MaxPageRows; absent is
// hub.DefaultPageRows.
func (q *Query) Limit() int {
	n := q.count("limit")
	switch {
	case n < 0:
		return hub.DefaultPageRows
	case n > hub.MaxPageRows:
		return hub.MaxPageRows
	}
	return n
}

// LimitOf is Limit with other bounds.
func (q *Query) LimitOf(absent, most int) int {
	n := q.count("limit")
	if n < 0 {
		return absent
	}
	return min(n, most)
}

// Count returns an integer of at least 1.
func (q *Query) Count(name string, absent, most int) int {
	n := q.count(name)
	if n < 0 {
		return absent
	}
	return min(n, most)
}

// Page returns the parameters cursor and limit of a list; a limit that is absent is
// rows.
func (q *Query) Page(rows int) (hub.Cursor, int) {
	return hub.Cursor(q.Text("cursor")), q.LimitOf(rows, hub.MaxPageRows)
}

// Time returns a parameter that is an RFC 3339 time; absent is 0.
func (q *Query) Time(name string) hub.Time {
	value, found := q.lookup(name)
	if !found || value == "" {
		return 0
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		q.fail(name, "must be an RFC 3339 time such as 2026-01-02T15:04:05Z")
		return 0
	}
	return hub.TimeOf(t)
}

// MaxChars returns the parameter max_chars; absent is 0, no budget.
func (q *Query) MaxChars() int {
	return max(q.count("max_chars"), 0)
}

// count returns an integer of at least 1, -1 if absent or bad; what overflows is
// the largest int.
func (q *Query) count(name string) int {
	value, found := q.lookup(name)
	if !found {
		return -1
	}
	digits := value != "" && strings.Trim(value, "0123456789") == ""
	if !digits || strings.Trim(value, "0") == "" {
		q.fail(name, "must be an integer of at least 1")
		return -1
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// Texts returns all values of a parameter that may be repeated, each once.
func (q *Query) Texts(name string) []string {
	var values []string
	for i := range q.pairs {
		if v := q.pairs[i].value; q.pairs[i].name == name && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// Wait returns the parameter timeout, seconds as a decimal number, clamped to
// hub.MaxPollWait.
func (q *Query) Wait(absent time.Duration) time.Duration {
	return q.WaitUpTo(absent, hub.MaxPollWait)
}

// WaitUpTo is Wait clamped to most.
func (q *Query) WaitUpTo(absent, most time.Duration) time.Duration {
	value, found := q.lookup("timeout")
	if !found {
		return absent
	}
	if value == "" || strings.Trim(value, "0123456789.") != "" {
		q.fail("timeout", "must be a number of seconds of at least 0")
		return 0
	}
	sec, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(sec, 1) {
		q.fail("timeout", "must be a number of seconds of at least 0")
		return 0
	}
	if sec >= most.Seconds() {
		return most
	}
	return time.Duration(sec * float64(time.Second))
}

// Agent returns an agent id, or "" if absent.
func (q *Query) Agent(name string) hub.AgentID {
	id := hub.AgentID(q.Text(name))
	if id != "" {
		q.Keep(hub.CheckAgentID(name, id))
	}
	return id
}
