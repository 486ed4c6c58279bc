package crowd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/internal/require"
)

// liar is a hub that loses, doubles or exchanges posts.
type liar struct {
	keep func(rows []row, n int, body string) []row // puts the post with number n among the rows

	mu    sync.Mutex
	posts int
	rows  []row
	after func(posts int) // is called with their number after each post
}

func honest(rows []row, _ int, body string) []row {
	return append(rows, row{ID: int64(len(rows) + 1), Body: body})
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.URL.Path == "/v1/channels":
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPost:
		var in struct {
			Body string `json:"body"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in) // the pair sends JSON
		l.rows = l.keep(l.rows, l.posts, in.Body)
		l.posts++
		l.after(l.posts)
		w.WriteHeader(http.StatusCreated)
	default:
		since, _ := strconv.Atoi(r.URL.Query().Get("since_id"))
		rows := l.rows[min(since, len(l.rows)):]
		_ = json.NewEncoder(w).Encode(page{Rows: rows, Next: int64(len(l.rows))})
	}
}

// TestPairNoticesLies: a pair says so when a post is lost, comes twice or comes before an
// earlier one. It says so at once, and at the latest when the post is overdue.
func TestPairNoticesLies(t *testing.T) {
	const lieAt, posts = 5, 20
	for name, test := range map[string]struct {
		keep func([]row, int, string) []row
		want string
	}{
		"honest": {honest, ""},
		"lost": {func(rows []row, n int, body string) []row {
			if n == lieAt {
				return rows
			}
			return honest(rows, n, body)
		}, "post 5 was next"},
		"last lost": {func(rows []row, n int, body string) []row {
			if n >= lieAt {
				return rows
			}
			return honest(rows, n, body)
		}, "post 5 has not arrived"},
		"doubled": {func(rows []row, n int, body string) []row {
			if n == lieAt {
				rows = honest(rows, n, body)
			}
			return honest(rows, n, body)
		}, "post 6 was next"},
		"exchanged": {func(rows []row, n int, body string) []row {
			if n == lieAt {
				return honest(honest(rows, n, strconv.Itoa(n+1)), n, body)
			}
			return honest(rows, n, body)
		}, "post 5 was next"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, ends := io.Pipe()
			l := &liar{keep: test.keep, after: func(n int) {
				switch {
				case n == posts:
					_ = ends.Close()
				case n == lieAt+1 && test.want != "": // a pair that notices a lie posts no more
					time.AfterFunc(time.Second, func() { _ = ends.Close() })
				}
			}}
			server := httptest.NewServer(l)
			defer server.Close()
			var out bytes.Buffer
			require.NoError(t, watch(t.Context(), strings.TrimPrefix(server.URL, "http://"), 500*time.Millisecond, in, &out))
			var last told
			require.NoError(t, json.Unmarshal(out.Bytes(), &last))
			if (last.Broken == "") != (test.want == "") || !strings.Contains(last.Broken, test.want) {
				t.Errorf("the pair says %q, want %q", last.Broken, test.want)
			}
			if test.want == "" && last.Posts < posts {
				t.Errorf("%d posts were acknowledged, want %d", last.Posts, posts)
			}
		})
	}
}

// TestCompareNoticesLies: what followers have read is compared with what was said.
func TestCompareNoticesLies(t *testing.T) {
	for _, test := range []struct {
		said, read []int64
		broken     bool
	}{
		{[]int64{1, 2, 3}, []int64{1, 2, 3}, false},
		{[]int64{2, 1, 3}, []int64{1, 2, 3}, false}, // answers to posts may overtake each other
		{[]int64{1, 2, 3}, []int64{1, 3}, true},
		{[]int64{1, 2, 3}, []int64{1, 2, 2, 3}, true},
		{[]int64{1, 2, 3}, []int64{1, 3, 2}, true},
		{[]int64{1, 2, 3}, []int64{1, 2, 4}, true},
		{nil, []int64{1}, true},
		{nil, nil, false},
	} {
		t.Run(fmt.Sprint(test.said, test.read), func(t *testing.T) {
			t.Parallel()
			o := Options{Channels: 1, Agents: 1}
			_, err := o.compare(t.Context(), []channel{{said: test.said}}, []*follower{{agent: "agent-0", channel: "channel-0", read: test.read}}, 100*time.Millisecond)
			if errors.Is(err, ErrBroken) != test.broken || err != nil && !test.broken {
				t.Errorf("got %v", err)
			}
		})
	}
}
