package credstore

import (
	"strings"

	"hubcli/internal/lazy"
)

// Source is where a secret is.
type Source string

// The sources.
const (
	OS  Source = "os"  // the credential store of the operating system
	Env Source = "env" // a variable of this process's environment
)

// Ref names a secret and its source, such as "os:license" or "env:OPENAI_API_KEY".
type Ref struct {
	Source Source
	Name   string
}

func (r Ref) String() string { return string(r.Source) + ":" + r.Name }

// maxName is the largest number of bytes in a name.
const maxName = 128

var (
	storedName   = lazy.Regexp{Pattern: `^[A-Za-z0-9][A-Za-z0-9._/@-]*$`}
	variableName = lazy.Regexp{Pattern: `^[A-Za-z_][A-Za-z0-9_]*$`}
)

// ParseRef reads a reference. Errors: BadRef.
func ParseRef(s string) (Ref, error) {
	source, name, _ := strings.Cut(s, ":")
	r := Ref{Source: Source(source), Name: name}
	return r, r.check()
}

// check refuses a reference that no source understands.
func (r Ref) check() error {
	switch {
	case r.Source == OS && storedName.MatchString(r.Name) && len(r.Name) <= maxName:
		return nil
	case r.Source == Env && variableName.MatchString(r.Name) && len(r.Name) <= maxName:
		return nil
	}
	return &Error{
		Kind: BadRef, Ref: r,
		Message: "the reference to a secret is not valid",
		Fix:     "write os: and a name of letters, digits and . _ / @ -, or env: and the name of a variable; at most 128 characters",
	}
}
