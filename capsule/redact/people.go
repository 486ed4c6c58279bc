package redact

import (
	"strings"
	"unicode/utf8"

	"hubcli/internal/lazy"
)

// people finds what names people: e-mail addresses, accounts, and the names in paths of
// home directories.
func (b *builder) people(users []string) {
	known := map[string]bool{}
	for _, user := range users {
		if len(user) < 2 {
			continue
		}
		known[strings.ToLower(user)] = true
		for _, spelled := range spellings(user) {
			b.user(user, spelled)
		}
	}
	for _, word := range []string{"@", "%40"} {
		b.add(word, email)
	}
	for _, word := range []string{"/home/", "/users/", `\home\`, `\users\`, "%2fhome%2f", "%2fusers%2f", "%5cusers%5c", `\/home\/`, `\/users\/`} {
		b.add(word, func(s *scan, at, end int) { s.homeUser(known, at, end) })
	}
}

var (
	domain = lazy.Regexp{Pattern: `^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}([A-Za-z]{2,24})`}

	// documented are domains that belong to nobody, and fileNames are endings of files
	// that no domain has.
	documented = lazy.Regexp{Pattern: `(?i)(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|localhost)$`}
	fileNames  = lazy.Regexp{Pattern: `(?i)^(?:png|jpe?g|gif|svg|webp|js|jsx|ts|tsx|json|ya?ml|tgz|css|html|go|service|timer|socket|git)$`}
)

// maxLocal bounds the part before the @.
const maxLocal = 64

// email finds an e-mail address at its @.
func email(s *scan, at, end int) {
	start := at
	for start > 0 && at-start < maxLocal && (alphanumeric(s.text[start-1]) || strings.IndexByte("._+-", s.text[start-1]) >= 0) {
		start--
	}
	if start >= 2 && s.text[start-1] == '\\' && strings.IndexByte("nrt", s.text[start]) >= 0 {
		start++ // the letter of an escape
	}
	for start < at && !alphanumeric(s.text[start]) {
		start++
	}
	s.work -= at - start
	if start == at || s.text[start:at] == "git" {
		return
	}
	window := s.text[end:min(len(s.text), end+256)]
	s.work -= maxLocal
	m := domain.Get().FindStringSubmatchIndex(window)
	if m == nil || m[1] < len(window) && alphanumeric(window[m[1]]) {
		return
	}
	if host, top := window[:m[1]], window[m[2]:m[3]]; !documented.MatchString(host) && !fileNames.MatchString(top) {
		value := strings.ToLower(s.text[start:at] + "@" + host)
		s.add(span{start: start, end: end + m[1], rule: ruleEmail, value: value})
	}
}

var (
	beforeUser = lazy.Regexp{Pattern: `(?i)(?:[/\\~]|%2f|%5c|-(?:home|users)-|[-d][-r][-w][-xst]{1}[-rwxst]{6}[.+@]?\s{1,8}\d{1,6}\s{1,4}(?:\S{1,32}\s{1,8})?|` +
		`\b(?:user|username|user_name|logname|login|sudo_user|owner|account|benutzer|uid=\d{1,10}\(|gid=\d{1,10}\()["']?\s{0,3}[:=]?\s{0,3}["']?)$`}
	afterUser = lazy.Regexp{Pattern: `^(?:@|%40)[A-Za-z0-9]`}
)

// user finds the name of an account where it stands for the account.
func (b *builder) user(user, spelled string) {
	anywhere := distinctive(user)
	b.add(spelled, func(s *scan, at, end int) {
		if !s.alone(at, end) {
			return
		}
		s.work -= lookBehind
		if anywhere || beforeUser.MatchString(s.text[max(0, at-lookBehind):at]) || afterUser.MatchString(s.text[end:min(len(s.text), end+lookBehind)]) {
			s.add(span{start: at, end: end, rule: ruleUser, value: strings.ToLower(user)})
		}
	})
}

var (
	// nobody are names of folders for all, of accounts in containers and of documents.
	nobody = lazy.Regexp{Pattern: `(?i)^(?:shared|public|default|default user|all users|user|username|you|your[-_]?name|name|me|runner|ubuntu|vscode|node|agent|app|root|git|linuxbrew|x|xxx)$`}

	// A path may go on before the folder of homes.
	absoluteHome  = lazy.Regexp{Pattern: `(?i)(?:^|/)(?:var|export|usr|data|private|system|volumes|net|nfs|hostfs|rootfs|host|wsl\$?|wsl\.localhost)(?:/[^/\s]{1,64}){0,3}$`}
	absoluteUsers = lazy.Regexp{Pattern: `^(?:["'(=\[<>]|[\w+.-]{1,32}://)*(?:[/\\]|[A-Za-z]:|%2F)`}
	windowsDrive  = lazy.Regexp{Pattern: `(?i)(?:^|[^A-Za-z])(?:[a-z](?::|%3a)|/[a-z])$`}
	web           = lazy.Regexp{Pattern: `(?i)https?(?::|%3a)[/%]`}
)

// homeUser finds the name of a person in the path of a home directory: the keyword is the
// folder of homes, with what stands before and after it.
func (s *scan) homeUser(known map[string]bool, at, end int) {
	for end < len(s.text) && end-at < lookBehind && (s.text[end] == '/' || s.text[end] == '\\') {
		end++
	}
	name := pathPart(s.text[end:min(len(s.text), end+lookBehind)])
	s.work -= lookBehind
	if name == "" || strings.Trim(name, ".-_") == "" || nobody.MatchString(name) && !known[strings.ToLower(name)] {
		return
	}
	if !known[strings.ToLower(name)] && !s.homes(at, strings.Contains(strings.ToLower(s.text[at:end]), "home")) {
		return
	}
	s.add(span{start: end, end: end + len(name), rule: ruleHomeUser, value: strings.ToLower(name)})
}

// homes says whether the folder at the place holds home directories: the page of a site and
// the folder of a project have such names, too.
func (s *scan) homes(at int, home bool) bool {
	start := at
	for start > 0 && at-start < 4*lookBehind && strings.IndexByte(" \t\r\n\"'`<>(,;", s.text[start-1]) < 0 {
		start--
	}
	s.work -= at - start
	lead := s.text[start:at]
	if web.MatchString(lead) {
		return false
	}
	inPath := at > 0 && (alphanumeric(s.text[at-1]) || strings.IndexByte("_-.)}]", s.text[at-1]) >= 0) && !s.escaped(at)
	capital := strings.ContainsAny(s.text[at:min(len(s.text), at+5)], "U")
	switch windows := windowsDrive.MatchString(lead); {
	case windows || s.text[at] == '\\' && !home:
		return true
	case home:
		return !inPath || absoluteHome.MatchString(lead)
	default:
		return capital && (!inPath || absoluteUsers.MatchString(lead))
	}
}

// pathPart is the first part of a path. A name with spaces is known by the separator that
// follows it.
func pathPart(text string) string {
	word, spaces := -1, -1
	for i, r := range text {
		if r == '/' || r == '\\' || r == '%' && i+3 <= len(text) && (strings.EqualFold(text[i:i+3], "%2f") || strings.EqualFold(text[i:i+3], "%5c")) {
			spaces = i
			break
		}
		if r < ' ' || r == utf8.RuneError || strings.ContainsRune("\"'`<>|*?:;,()[]{}$=@#&", r) {
			if word < 0 {
				word = i
			}
			break
		}
		if r == ' ' && word < 0 {
			word = i
		}
	}
	switch {
	case spaces >= 0 && (word < 0 || strings.Count(text[:spaces], " ") <= 2 && spaces < 40 && text[spaces] == '\\'):
		return text[:spaces]
	case word < 0:
		return strings.TrimRight(text, ".")
	}
	return strings.TrimRight(text[:word], ".")
}
