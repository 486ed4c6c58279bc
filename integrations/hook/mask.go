package hook

import (
	"strings"

	"hubcli/capsule/redact"
	"hubcli/internal/lazy"
)

// masked stands for a secret.
const masked = "••••"

// A secret is masked as a whole or not at all, and what is masked is one word of letters,
// digits and a few other characters. So no part of a command that a shell would run can
// hide behind a mask.
const (
	secretName  = `(?:token|secret|passw|pwd|api[_-]?key|auth|credential|cookie|private|access[_-]?key)`
	secretValue = `[A-Za-z0-9+_=~%-][A-Za-z0-9+_=.~%-]{3,}`
)

// secretPlaces find secrets; the first group stays.
var secretPlaces = []*lazy.Regexp{
	{Pattern: `(?i)([\w.-]*` + secretName + `[\w.-]*["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)` + secretValue},
	{Pattern: `(?i)(--?[\w-]*` + secretName + `[\w-]*\s+["']?)` + secretValue},
	{Pattern: `(?i)(\b(?:bearer|basic)\s+)` + secretValue},
	{Pattern: `()\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abpr]|npm|pypi|hf|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{12,}`},
	{Pattern: `(://[^/\s"'@:]*:)[A-Za-z0-9+_=.~%!*-]+@`},
}

// plainSecret is a secret that is one word, and so hides no part of a command.
var plainSecret = lazy.Regexp{Pattern: `^[A-Za-z0-9+_=.~%-]{4,}$`}

// mask hides what looks like a secret: what these places hold, and then the formats of
// tokens that the rules for texts that leave the machine know.
func mask(text string) string {
	for _, place := range secretPlaces {
		text = place.ReplaceAllString(text, "${1}"+masked)
	}
	var b strings.Builder
	done := 0
	for _, place := range redact.Secrets(text) {
		if plainSecret.MatchString(text[place.Start:place.End]) {
			b.WriteString(text[done:place.Start])
			b.WriteString(masked)
			done = place.End
		}
	}
	b.WriteString(text[done:])
	return b.String()
}
