package redact

import "strings"

// nearby bounds the place of a separator after the keyword of a setting.
const nearby = 52

// find looks for the secret of the rule at its keyword.
func (r *Rule) find(s *scan, at, end int) {
	if !r.mayStand(s, at, end) {
		return
	}
	pattern, size := r.compile()
	start := max(0, at-r.Back)
	window := s.text[start:min(len(s.text), at+size)]
	if r.Needs != "" && !strings.Contains(window, r.Needs) {
		s.work -= nearby
		return
	}
	s.work -= len(window)
	match := pattern.FindStringSubmatchIndex(window)
	if match == nil {
		return
	}
	group := r.Group
	if r.After != "" {
		group = 1
	}
	if match[2*group] < 0 {
		return
	}
	from, to := start+match[2*group], s.extend(start+match[2*group+1], start+len(window))
	for to > from && s.text[to-1] == '.' {
		to--
	}
	if value := s.text[from:to]; r.accepts(value) && !(r.After == "setting" && call(value, s.text[to:])) {
		s.add(span{start: from, end: to, rule: r.ID})
	}
}

// mayStand looks at the bytes around the keyword, so that few places need the pattern.
func (r *Rule) mayStand(s *scan, at, end int) bool {
	switch {
	case r.Boundary && r.Back == 0 && at > 0 && alphanumeric(s.text[at-1]):
		return false
	case r.After == "option":
		start := at
		for start > 0 && at-start < nearby && wordByte(s.text[start-1]) {
			start--
		}
		return start < at && (s.text[start] == '-' || strings.Contains(s.text[start:at], "--"))
	case r.After != "" && !separated(s.text[end:min(len(s.text), end+nearby)]):
		s.work -= nearby / 4
		return false
	}
	return true
}

// call says whether a value is the name of a function that is called.
func call(value, rest string) bool {
	return strings.HasPrefix(rest, "(") && strings.Contains(value, ".") && !strings.ContainsAny(value, "+/=~-")
}

// extend returns the end of the word in which a secret ends, so that no part of it stays. A
// secret that fills its window is longer, and may have the other characters of base64.
func (s *scan) extend(to, window int) int {
	full := to == window
	for ; to < len(s.text) && (wordByte(s.text[to]) || full && strings.IndexByte("+/=%", s.text[to]) >= 0); to++ {
		s.work--
	}
	return to
}

// separated says whether a value may follow the keyword of a setting.
func separated(text string) bool {
	for i := range len(text) {
		switch b := text[i]; {
		case b >= 0x80, strings.IndexByte("=:>|,", b) >= 0:
			return true
		case b == ' ' && i+3 < len(text):
			switch text[i+1 : i+3] {
			case "is", "to", "wa", "la", "IS", "Is":
				return true
			}
		}
	}
	return false
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= lower(b) && lower(b) <= 'z'
}

func wordByte(b byte) bool { return alphanumeric(b) || b == '_' || b == '-' }

// The private keys of PEM, and of PuTTY.
const (
	pemBegin = "-----begin "
	pemEnd   = "-----end "
	puttyKey = "private-lines:"

	// maxPEM bounds the way to the end of a private key. A key of 16,384 bits takes
	// 13 KB.
	maxPEM = 32 << 10
)

// keys finds private keys that stand between lines.
func (b *builder) keys() {
	b.add(pemBegin, func(s *scan, at, end int) {
		rest := s.text[at:min(len(s.text), at+maxPEM)]
		head := strings.ToLower(rest[:min(len(rest), 128)])
		title := strings.Index(head[len(pemBegin):], "-----")
		s.work -= len(head)
		if title < 0 || !strings.Contains(head[:len(pemBegin)+title], "private key") {
			return
		}
		body := len(pemBegin) + title + len("-----")
		s.work -= len(rest)
		stop := body + foldIndex(rest[body:], pemEnd)
		if stop < body {
			stop = armored(rest, body) // its end is missing
		} else if line := strings.Index(rest[stop+len(pemEnd):], "-----"); line >= 0 && line < 128 {
			stop += len(pemEnd) + line + len("-----")
		}
		s.add(span{start: at, end: at + stop, rule: rulePEM})
	})
	b.add(puttyKey, func(s *scan, at, end int) {
		rest := s.text[at:min(len(s.text), at+maxPEM)]
		stop := armored(rest, end-at)
		s.work -= stop
		s.add(span{start: at, end: at + stop, rule: rulePEM})
	})
}

// foldIndex is the place of a word in lower case, whatever the case of text.
func foldIndex(text, word string) int {
	for i := 0; ; i++ {
		dash := strings.IndexByte(text[i:], word[0])
		if i += dash; dash < 0 || len(text)-i < len(word) {
			return -1
		}
		if strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
}

// armored returns where text stops to look like lines of base64, headers included.
func armored(text string, from int) int {
	for from < len(text) && (wordByte(text[from]) || strings.IndexByte("+/=:,. \t\r\n\\\"", text[from]) >= 0) {
		from++
	}
	return from
}
