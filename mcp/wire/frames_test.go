package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

const other = `{"jsonrpc":"2.0","id":"2","method":"ping"}`

// sifted runs lines through the filter. It returns the lines that were passed
// on and the answers.
func sifted(tb testing.TB, in io.Reader, limit int) (passed, answered []string) {
	tb.Helper()
	var out, pass bytes.Buffer
	s := frameFilter{pass: &pass, out: &frameWriter{w: &out}, exchange: newExchange(&Feeds{})}
	if err := s.run(in, limit); err != nil {
		tb.Fatalf("the filter ends with %v", err)
	}
	return lines(pass.String()), lines(out.String())
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func TestFilter(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for name, c := range map[string]struct {
		in    string
		pass  []string
		codes []int64
	}{
		"a message":           {in: ping + "\n", pass: []string{ping}},
		"without an end":      {in: ping, pass: []string{ping}},
		"CRLF":                {in: ping + "\r\n", pass: []string{ping}},
		"byte order mark":     {in: "\xef\xbb\xbf" + ping + "\n", pass: []string{ping}},
		"white space":         {in: "\n \t \r\n  " + ping + "  \n\n", pass: []string{ping}},
		"spaces within":       {in: `{ "jsonrpc" : "2.0", "id": 1, "method":"ping" }` + "\n", pass: []string{ping}},
		"junk":                {in: "junk\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32700}},
		"NUL bytes":           {in: "\x00\x00\n" + ping + "\x00\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32700, -32700}},
		"cut off":             {in: ping[:20] + "\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32700}},
		"two in a line":       {in: ping + ping + "\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32700}},
		"UTF-16":              {in: "\xff\xfe{\x00}\x00\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32700}},
		"no version":          {in: `{"id":1,"method":"ping"}` + "\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32600}},
		"other version":       {in: `{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n", codes: []int64{-32600}},
		"other case":          {in: `{"JSONRPC":"2.0","id":1,"method":"ping"}` + "\n", codes: []int64{-32600}},
		"version twice":       {in: `{"jsonrpc":"2.0","jsonrpc":"1","id":1,"method":"ping"}` + "\n", codes: []int64{-32600}},
		"not an object":       {in: "5\nnull\ntrue\n\"x\"\n", codes: []int64{-32600, -32600, -32600, -32600}},
		"id of a wrong type":  {in: `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32600}},
		"method not a string": {in: `{"jsonrpc":"2.0","id":1,"method":5}` + "\n", codes: []int64{-32600}},
		"neither call nor answer": {
			in: `{"jsonrpc":"2.0"}` + "\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32600},
		},
		"error of a wrong type": {in: `{"jsonrpc":"2.0","id":1,"error":5}` + "\n", codes: []int64{-32600}},
		"too deep":              {in: `{"jsonrpc":"2.0","id":1,"method":"x","params":` + deep + "}\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32600}},
		"a batch":               {in: "[" + ping + ", " + other + "]\n", pass: []string{ping, other}},
		"batch with junk":       {in: "[" + ping + ",5,[" + ping + "]]\n", pass: []string{ping}, codes: []int64{-32600, -32600}},
		"empty batch":           {in: "[]\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32600}},
		"too long":              {in: `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 200_000) + `"}` + "\n" + ping + "\n", pass: []string{ping}, codes: []int64{-32600}},
		"too long without end":  {in: ping + "\n" + strings.Repeat("x", 200_000), pass: []string{ping}, codes: []int64{-32600}},
	} {
		t.Run(name, func(t *testing.T) {
			for way, in := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "bytes": iotest.OneByteReader(strings.NewReader(c.in)),
			} {
				if way == "bytes" && len(c.in) > 50_000 {
					continue
				}
				pass, answers := sifted(t, in, 100_000)
				if fmt.Sprint(pass) != fmt.Sprint(c.pass) {
					t.Errorf("%s: passed %.200q, want %.200q", way, pass, c.pass)
				}
				var codes []int64
				for _, a := range answers {
					codes = append(codes, refusalCode(t, a))
				}
				if fmt.Sprint(codes) != fmt.Sprint(c.codes) {
					t.Errorf("%s: answered %v, want %v", way, codes, c.codes)
				}
			}
		})
	}
}

// refusalCode returns the code of a line that must be an error without an id.
func refusalCode(tb testing.TB, line string) int64 {
	tb.Helper()
	var a struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(line), &a); err != nil || a.Version != "2.0" || string(a.ID) != "null" || a.Error.Message == "" {
		tb.Errorf("%q is no refusal: %v", line, err)
	}
	return a.Error.Code
}

func TestFilterEndsWithItsInput(t *testing.T) {
	broken := errors.New("broken")
	r := filter(iotest.ErrReader(broken), &frameWriter{w: io.Discard}, newExchange(&Feeds{}), maxFrame)
	if _, err := io.ReadAll(r); !errors.Is(err, broken) {
		t.Errorf("the filter ends with %v, want the error of its input", err)
	}
}

// TestFramesAreNotMixed: every line is a whole message, even if many write at
// once.
func TestFramesAreNotMixed(t *testing.T) {
	var out bytes.Buffer
	w := &frameWriter{w: &out}
	var writers sync.WaitGroup
	for n := range 8 {
		writers.Go(func() {
			for range 50 {
				if n%2 == 0 {
					_ = w.refuse(noID, -32600, strings.Repeat("r", 100))
				} else {
					_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("w", 500) + `"}` + "\n"))
				}
			}
		})
	}
	writers.Wait()
	all := lines(out.String())
	if len(all) != 400 {
		t.Errorf("%d lines, want 400", len(all))
	}
	for _, line := range all {
		if !json.Valid([]byte(line)) {
			t.Fatalf("the line %q is not JSON", line)
		}
	}
}

// FuzzFilter: every line that is passed on is one message that the SDK's reader
// accepts. Every answer is a refusal. A message gets through after any input.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		"", "junk", ping, "[" + ping + "]", "\xef\xbb\xbf" + ping, `{"jsonrpc":"2.0","id":null,"method":"x"}`, "\x00", "[[]]", `{"a":1}`,
		`{"jsonrpc":"2.0","id":"\ud800","result":1e999}`, `{"jsonrpc":"2.0","method":"\u0000","params":[` + "\xff" + `]}`,
	} {
		f.Add([]byte(seed))
	}
	const last = `{"jsonrpc":"2.0","id":"the last","method":"ping"}`
	f.Fuzz(func(t *testing.T, in []byte) {
		passed, answered := sifted(t, bytes.NewReader(append(append(in, '\n'), last...)), 4096)
		for _, line := range passed {
			var one json.RawMessage
			if err := json.Unmarshal([]byte(line), &one); err != nil || one[0] != '{' {
				t.Errorf("passed %q: %v", line, err)
			}
			if _, err := jsonrpc.DecodeMessage([]byte(line)); err != nil {
				t.Errorf("passed %q: %v", line, err)
			}
		}
		for _, line := range answered {
			refusalCode(t, line)
		}
		if len(passed) == 0 || passed[len(passed)-1] != last {
			t.Errorf("the last message does not get through after %q", in)
		}
	})
}
