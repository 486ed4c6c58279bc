package client

import (
	"net/url"
	"strconv"
	"time"
)

// values collects query parameters; zero values are left out.
type values url.Values

func (v values) text(key, s string) {
	if s != "" {
		url.Values(v).Set(key, s)
	}
}

func (v values) number(key string, n int64) {
	if n != 0 {
		url.Values(v).Set(key, strconv.FormatInt(n, 10))
	}
}

func (v values) flag(key string, b bool) {
	if b {
		url.Values(v).Set(key, "true")
	}
}

// seconds also sends 0: a poll without a timeout would get the hub's default
// instead of an answer at once.
func (v values) seconds(key string, d time.Duration) {
	url.Values(v).Set(key, strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
}
