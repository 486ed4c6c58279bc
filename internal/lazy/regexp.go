// Package lazy holds values that are made when they are first used. All packages of the
// program are initialized at each start, and most starts are those of a hook or of another
// short command, which uses few of them.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first used. A variable of a
// package that holds one costs nothing at the start of the program. A pattern that cannot
// be compiled panics at the first use. All methods may be called from any goroutine.
type Regexp struct {
	Pattern string

	once     sync.Once
	compiled *regexp.Regexp
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.Pattern) })
	return r.compiled
}

// MatchString is that of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool { return r.Get().MatchString(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.Get().FindStringSubmatch(s) }

// ReplaceAllString is that of regexp.Regexp.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.Get().ReplaceAllString(s, with) }
