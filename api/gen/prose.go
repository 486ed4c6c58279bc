package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// prose is what the comment of a row says.
type prose struct {
	summary, description string
	query                []parameter
	path, header         *parameter
	answer, bounded      string
}

// parameter is one line of a list of parameters:
//
//	name=sent required repeated (bounds): description
//
// All but the name may be left out. sent is the name on the wire, where several parameters of
// that name mean different things. A name that stands alone is in the list shared.
type parameter struct {
	name, sent, bounds, description string
	required, repeated              bool
	alone                           bool
}

var parameterForm = regexp.MustCompile(`^([\w-]+)(?:=([\w-]+))?( required)?( repeated)?(?: \((.*?)\))?(?:: (.*))?$`)

func parseParameter(line string) (parameter, error) {
	m := parameterForm.FindStringSubmatch(line)
	if m == nil {
		return parameter{}, fmt.Errorf("%q is no parameter: write name (bounds): what it means", line)
	}
	p := parameter{name: m[1], sent: m[2], required: m[3] != "", repeated: m[4] != "", bounds: m[5], description: m[6]}
	if p.sent == "" {
		p.sent = p.name
	}
	p.alone = line == p.name
	return p, nil
}

// parseProse reads the comment of a row: a summary, a description, and paragraphs that begin with
// Path, Header, Query, Answer or Bounded.
func parseProse(text string) (said prose, err error) {
	var described []string
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		label, rest, _ := strings.Cut(paragraph, ":")
		line := oneLine(rest)
		switch {
		case label == "Query":
			said.query, err = parseQuery(rest)
		case label == "Path":
			said.path, err = one(line)
		case label == "Header":
			said.header, err = one(line)
		case label == "Answer":
			said.answer = line
		case label == "Bounded":
			said.bounded = line
		case i == 0:
			said.summary = oneLine(paragraph)
		default:
			described = append(described, oneLine(paragraph))
		}
		if err != nil {
			return said, err
		}
	}
	said.description = strings.Join(described, "\n")
	if said.summary == "" || said.answer == "" {
		return said, errors.New("say in it what the call does, and after Answer: what comes back")
	}
	return said, nil
}

func one(line string) (*parameter, error) {
	p, err := parseParameter(line)
	return &p, err
}

// parseQuery reads names with commas between them, or a list with a hyphen before each.
func parseQuery(text string) (list []parameter, err error) {
	parts := strings.Split(text, ",")
	if items := strings.Split(text, "\n  - "); len(items) > 1 {
		parts = items[1:]
	}
	for _, part := range parts {
		p, err := parseParameter(oneLine(part))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}
