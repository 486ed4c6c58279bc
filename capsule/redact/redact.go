package redact

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// Options are what the caller knows of this machine and of this export.
type Options struct {
	Salt      []byte   // of this export, random and kept by nobody; 16 bytes or more
	Literals  []string // values that are secret wherever they stand, such as tokens of the hub
	Homes     []string // home directories
	Users     []string // names of accounts
	Hosts     []string // names of this machine
	Addresses []string // IP addresses of this machine
}

// The rules that are code.
const (
	ruleLiteral  = "literal"       // a value that the caller named
	ruleHome     = "home"          // a home directory of this machine
	ruleHomeUser = "home-user"     // the name in the path of any home directory
	ruleUser     = "user"          // an account of this machine
	ruleEmail    = "email"         // an e-mail address
	ruleHost     = "host"          // a name of this machine
	ruleAddress  = "address"       // an IP address of this machine
	rulePEM      = "private-key"   // a private key between its lines, or what is left of one
	ruleDense    = "not-inspected" // a text that would take too long
)

// The bounds of a Redactor.
const (
	minSalt    = 16
	minLiteral = 6

	// workPerByte and freeWork bound the bytes that patterns are shown of one text. Text of
	// agents takes less than one for each byte; a text that is made of keywords takes a
	// hundred, and is then left out from there on.
	workPerByte = 16
	freeWork    = 128 << 10

	// maxPasses bounds how often what a replacement leaves is looked at again.
	maxPasses = 8
)

// A Redactor redacts the texts of one export.
type Redactor struct {
	salt   []byte
	words  *keywords
	size   []int  // of each word
	finds  []find // by word
	ids    map[string]bool
	counts map[string]int
	shown  int // bytes that patterns were shown so far
}

// A find looks at one place of a text at which its keyword stands.
type find func(s *scan, at, end int)

// A scan is one look at one piece of a text.
type scan struct {
	text  string
	spans []span
	work  int // bytes that may still be shown to patterns
	rank  int // of what looks now
}

// New makes the Redactor of one export.
func New(o Options) (*Redactor, error) {
	if len(o.Salt) < minSalt {
		return nil, fmt.Errorf("the salt has %d bytes: give %d or more, which must be random", len(o.Salt), minSalt)
	}
	r := &Redactor{salt: o.Salt, counts: map[string]int{}, ids: map[string]bool{}}
	for _, id := range []string{ruleLiteral, ruleHome, ruleHomeUser, ruleUser, ruleEmail, ruleHost, ruleAddress, rulePEM, ruleDense} {
		r.ids[id] = true
	}
	b := &builder{}
	if err := b.literals(o.Literals); err != nil {
		return nil, err
	}
	if err := b.machine(o); err != nil {
		return nil, err
	}
	b.people(o.Users)
	b.keys()
	r.rules(b)
	return r, nil
}

// rules adds those of the file, and has the automaton of everything built.
func (r *Redactor) rules(b *builder) {
	for _, rule := range Rules() {
		r.ids[rule.ID] = true
		for _, word := range rule.Keywords {
			b.add(word, rule.find)
		}
	}
	r.words, r.finds = newKeywords(b.words), b.finds
	for _, word := range b.words {
		r.size = append(r.size, len(word))
	}
}

// A Place is where a text has a secret.
type Place struct {
	Start, End int
	Rule       string
}

// secrets knows the rules and nothing of a machine. To look changes nothing in it.
var secrets = sync.OnceValue(func() *Redactor {
	r := &Redactor{ids: map[string]bool{}}
	b := &builder{}
	b.keys()
	r.rules(b)
	return r
})

// Secrets returns the places of text at which rules find a secret, from the first on. It is
// for texts that stay on the machine, and may be called by several goroutines.
func Secrets(text string) []Place {
	var places []Place
	spans, _ := secrets().spans(text)
	for _, s := range spans {
		places = append(places, Place{Start: s.start, End: s.end, Rule: s.rule})
	}
	return places
}

// A builder collects keywords with what looks at their places.
type builder struct {
	words []string
	finds []find
}

func (b *builder) add(word string, f find) {
	b.words, b.finds = append(b.words, strings.ToLower(word)), append(b.finds, f)
}

// Text returns text with tags in place of what must not leave the machine.
func (r *Redactor) Text(text string) string { return r.within("", text) }

// Counts says how many places each rule has replaced so far.
func (r *Redactor) Counts() map[string]int { return maps.Clone(r.counts) }

// within redacts text, which stands behind lead. The patterns see the lead, and it stays as
// it is.
func (r *Redactor) within(lead, text string) string {
	for range maxPasses {
		seen := text
		if lead != "" {
			seen = lead + text + leadEnd
		}
		spans, shown := r.spans(seen)
		r.shown += shown
		changed, replaced := r.replace(lead, text, spans)
		if !replaced {
			return text
		}
		text = changed
	}
	r.counts[ruleDense]++
	return r.tag(ruleDense, text)
}

// spans finds the places of text that have to go. Tags are left alone, and no match reaches
// over one. It also returns how many bytes patterns were shown.
func (r *Redactor) spans(text string) (all []span, shown int) {
	allowed := freeWork + workPerByte*len(text)
	work := allowed
	for from := 0; from < len(text); {
		start, end := r.nextTag(text, from)
		s := &scan{text: text[from:start], work: work}
		r.words.each(s.text, func(word, end int) bool {
			s.rank = word
			r.finds[word](s, end-r.size[word], end)
			if s.work > 0 {
				return true
			}
			s.add(span{start: max(0, end-longValue), end: len(s.text), rule: ruleDense})
			return false
		})
		work = s.work
		for _, found := range merge(s.spans) {
			found.start, found.end = found.start+from, found.end+from
			all = append(all, found)
		}
		from = end
	}
	return all, allowed - work
}

// replace puts tags in the places of spans that lie in text.
func (r *Redactor) replace(lead, text string, spans []span) (string, bool) {
	var b strings.Builder
	done := 0
	for _, s := range spans {
		start, end := max(s.start-len(lead), 0), min(s.end-len(lead), len(text))
		if end <= start {
			continue
		}
		if s.value == "" || s.end-s.start != end-start {
			s.value = text[start:end]
		}
		r.counts[s.rule]++
		b.WriteString(text[done:start])
		b.WriteString(r.tag(s.rule, s.value))
		done = end
	}
	if done == 0 {
		return text, false
	}
	b.WriteString(text[done:])
	return b.String(), true
}

// add notes a place that has to go.
func (s *scan) add(found span) {
	if found.rank = s.rank; found.end > found.start {
		s.spans = append(s.spans, found)
	}
}

// errLiteral is the refusal of a literal that would be found everywhere.
var errLiteral = errors.New("a literal value is shorter than six bytes: it would be found everywhere")
