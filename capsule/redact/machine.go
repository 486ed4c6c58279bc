package redact

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"hubcli/internal/lazy"
)

// machine finds what names this machine: home directories, hosts and addresses.
func (b *builder) machine(o Options) error {
	for _, home := range o.Homes {
		for _, spelled := range spellings(home) {
			b.home(home, spelled)
		}
	}
	for _, host := range o.Hosts {
		if host = strings.Trim(host, "."); len(host) > 1 && !strings.HasPrefix(strings.ToLower(host), "localhost") {
			b.host(host)
		}
	}
	for _, text := range o.Addresses {
		address, _, _ := strings.Cut(text, "/")
		a, err := netip.ParseAddr(address)
		if err != nil {
			return fmt.Errorf("%q is no IP address: give it as 192.0.2.1 or 2001:db8::1", text)
		}
		if a = a.Unmap().WithZone(""); !a.IsLoopback() && !a.IsUnspecified() {
			b.address(a)
		}
	}
	return nil
}

// spellings are the ways in which a name is written: as it is, escaped for a URL, and
// escaped for JSON or code.
func spellings(name string) []string {
	all := []string{name}
	ascii := strconv.QuoteToASCII(name)
	for _, other := range []string{url.PathEscape(name), ascii[1 : len(ascii)-1]} {
		if other != name {
			all = append(all, other)
		}
	}
	return all
}

// between stands between the parts of a path: a slash, backslashes that may be escaped, the
// same escaped for a URL, or the dash by which some programs replace them in names of
// folders.
const between = `(?:\\{0,4}/|\\{1,8}|%2f|(?:%5c){1,2}|-{1,2})`

// home finds a home directory in a path of any platform.
func (b *builder) home(home, spelled string) {
	// The escapes of a slash and of a backslash are separators, too.
	parts := regexp.MustCompile(`(?i)[/\\]+|(?:%2f|%5c)+`).Split(spelled, -1)
	pattern := ""
	last := ""
	for _, part := range parts {
		drive := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(part), ":"), "%3a")
		switch {
		case part == "":
			continue
		case last == "" && pattern == "" && len(drive) == 1 && drive != strings.ToLower(part):
			pattern = "(?:" + drive + `(?::|%3a)?)?`
			continue
		}
		pattern += between + regexp.QuoteMeta(part)
		last = part
	}
	if last == "" {
		return
	}
	re := regexp.MustCompile("(?i)(?:" + pattern + ")$")
	size := 4*len(spelled) + 16
	value := strings.ToLower(strings.ReplaceAll(strings.TrimRight(home, `/\`), `\`, "/"))
	b.add(last, func(s *scan, at, end int) {
		if end < len(s.text) && wordByte(s.text[end]) && s.text[end] != '-' {
			return
		}
		start := max(0, at-size)
		s.work -= end - start
		if m := re.FindStringIndex(s.text[start:end]); m != nil {
			s.add(span{start: start + m[0], end: end, rule: ruleHome, value: value})
		}
	})
}

// distinctive says whether a name can hardly be an ordinary word, so that it is redacted
// wherever it stands. Other names are redacted where they stand for what they name.
func distinctive(name string) bool {
	return len(name) >= 4 && strings.ContainsAny(name, "0123456789-_.") && strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' })
}

var (
	beforeHost = lazy.Regexp{Pattern: `(?i)(?:@|//|%40|\b(?:host|hostname|node|nodename|computer|machine)["']?\s{0,3}[:=]\s{0,3}["']?)$`}
	afterHost  = lazy.Regexp{Pattern: `(?i)^(?::\d{2,5}\b|\.(?:local|lan|home|internal|intranet|fritz\.box|localdomain|corp)\b)`}
)

// lookBehind bounds the text before a name that says what it names.
const lookBehind = 64

func (b *builder) host(host string) {
	anywhere := distinctive(host)
	b.add(host, func(s *scan, at, end int) {
		if !s.alone(at, end) {
			return
		}
		s.work -= lookBehind
		if anywhere || beforeHost.MatchString(s.text[max(0, at-lookBehind):at]) || afterHost.MatchString(s.text[end:min(len(s.text), end+lookBehind)]) {
			s.add(span{start: at, end: end, rule: ruleHost, value: strings.ToLower(host)})
		}
	})
}

// alone says whether no letter and no digit stands beside the place.
func (s *scan) alone(at, end int) bool {
	return (at == 0 || !alphanumeric(s.text[at-1]) || s.escaped(at)) && (end == len(s.text) || !alphanumeric(s.text[end]))
}

// escaped says whether the letter before the place belongs to an escape such as \n or %2F.
func (s *scan) escaped(at int) bool {
	return at >= 2 && s.text[at-2] == '\\' && strings.IndexByte("nrt", s.text[at-1]) >= 0 || at >= 3 && s.text[at-3] == '%'
}

// address finds an IP address in every spelling.
func (b *builder) address(a netip.Addr) {
	if a.Is4() {
		for _, word := range []string{a.String(), strings.ReplaceAll(a.String(), ".", "-")} {
			b.add(word, func(s *scan, at, end int) {
				before := at > 0 && (digit(s.text[at-1]) || s.text[at-1] == '.' && at > 1 && digit(s.text[at-2]))
				after := end < len(s.text) && (digit(s.text[end]) || s.text[end] == '.' && end+1 < len(s.text) && digit(s.text[end+1]))
				if !before && !after {
					s.add(span{start: at, end: end, rule: ruleAddress, value: a.String()})
				}
			})
		}
		return
	}
	group, _, _ := strings.Cut(a.String(), ":")
	b.add(group+":", func(s *scan, at, end int) {
		for ; at > 0 && inAddress(s.text[at-1]) && end-at < lookBehind; at-- {
		}
		stop := end
		for ; stop < len(s.text) && inAddress(s.text[stop]) && stop-at < lookBehind; stop++ {
		}
		s.work -= stop - at
		// A port or the end of a sentence may follow.
		for text := s.text[at:stop]; text != ""; text = text[:len(text)-1] {
			if found, err := netip.ParseAddr(text); err == nil && found.Unmap() == a {
				s.add(span{start: at, end: at + len(text), rule: ruleAddress, value: a.String()})
				return
			}
		}
	})
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

func inAddress(b byte) bool {
	return digit(b) || 'a' <= lower(b) && lower(b) <= 'f' || b == ':' || b == '.'
}
