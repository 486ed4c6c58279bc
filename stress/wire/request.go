package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Request is a request whose bytes are built once. Counters in it are places of
// fixed width that Set overwrites, so that each send can differ from the last
// without building it anew.
type Request struct {
	bytes    []byte
	counters []int // offsets
}

// counterWidth is the number of digits of a counter; counterMark stands where one
// belongs while a request is built.
const counterWidth = 16

var counterMark = []byte("0123456789876543")

// Counter is put into a path, a header's value or a body where Set shall write.
var Counter = string(counterMark)

// Post builds a POST of body, which is rendered as JSON. Headers come in pairs
// of name and value.
func Post(addr, path string, body any, headers ...string) (*Request, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("body of %s: %w", path, err)
	}
	return build("POST", addr, path, b, headers), nil
}

// Get builds a GET of path, its query included.
func Get(addr, path string, headers ...string) *Request {
	return build("GET", addr, path, nil, headers)
}

// Delete builds a DELETE of path.
func Delete(addr, path string, headers ...string) *Request {
	return build("DELETE", addr, path, nil, headers)
}

func build(method, addr, path string, body []byte, headers []string) *Request {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, addr)
	for i := 0; i+1 < len(headers); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", headers[i], headers[i+1])
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	r := &Request{bytes: b.Bytes()}
	for from := 0; ; {
		at := bytes.Index(r.bytes[from:], counterMark)
		if at < 0 {
			break
		}
		r.counters = append(r.counters, from+at)
		from += at + counterWidth
	}
	r.Set(0)
	return r
}

// Set writes n, with leading zeros, into every counter.
func (r *Request) Set(n int64) {
	var digits [counterWidth]byte
	for i := counterWidth - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	for _, at := range r.counters {
		copy(r.bytes[at:], digits[:])
	}
}

// Bytes is what goes over the wire; it changes with the next Set.
func (r *Request) Bytes() []byte { return r.bytes }

// Int finds the first integer member of that name in JSON. It is for answers to
// requests whose contents the caller chose, so that no string can hold the
// member's name.
func Int(body []byte, name string) (int64, bool) {
	_, rest, ok := bytes.Cut(body, []byte(`"`+name+`":`))
	if !ok {
		return 0, false
	}
	end := 0
	for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	return n, err == nil
}
