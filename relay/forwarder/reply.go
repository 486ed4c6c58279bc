package forwarder

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"hubcli/api"
	"hubcli/hub"
)

// reply is one whole answer, with the members of its envelope that the
// forwarder reads.
type reply struct {
	status int
	header http.Header
	body   []byte
	head
}

// head holds the members of an envelope except the result. The result may have
// 64 MiB and is not copied out of the body.
type head struct {
	OK    bool     `json:"ok"`
	Error string   `json:"error"`
	Code  hub.Code `json:"code"`
}

// replyOf reads the answer to a call. The errors are *notHubError and those of
// net/http.
func (f *Forwarder) replyOf(c *call, res *http.Response) (*reply, error) {
	if t, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || t != api.ContentType {
		return nil, &notHubError{why: fmt.Sprintf("it answered %d without JSON", res.StatusCode)}
	}
	body, err := f.bodyOf(c, res)
	if err != nil {
		return nil, err
	}
	got := &reply{status: res.StatusCode, header: res.Header, body: body}
	if err := json.Unmarshal(body, &got.head); err != nil || !got.OK && got.Error == "" {
		return nil, &notHubError{why: fmt.Sprintf("it answered %d without the hub's envelope", res.StatusCode)}
	}
	return got, nil
}

// bodyOf reads an answer of at most maxAnswerBytes. A large answer stays in the
// connection until there is memory for it.
func (f *Forwarder) bodyOf(c *call, res *http.Response) ([]byte, error) {
	tooLarge := &notHubError{why: fmt.Sprintf("its answer has more than %d bytes", maxAnswerBytes)}
	size := res.ContentLength
	switch {
	case size > maxAnswerBytes:
		return nil, tooLarge
	case size < 0:
		begin, err := io.ReadAll(io.LimitReader(res.Body, smallAnswer+1))
		if err != nil || len(begin) <= smallAnswer {
			return begin, err
		}
		if err := f.keep(c, maxAnswerBytes); err != nil { // its size is unknown
			return nil, err
		}
		rest, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes-smallAnswer))
		if err == nil && len(begin)+len(rest) > maxAnswerBytes {
			err = tooLarge
		}
		return append(begin, rest...), err
	case size > smallAnswer:
		if err := f.keep(c, size); err != nil {
			return nil, err
		}
	}
	body := make([]byte, size)
	_, err := io.ReadFull(res.Body, body)
	return body, err
}

// keep waits until there is memory for an answer of size bytes.
func (f *Forwarder) keep(c *call, size int64) error {
	if !f.answers.take(c.ctx, size) {
		return c.ctx.Err()
	}
	c.kept += size
	return nil
}

// drop gives back what keep has taken, when the answer is not needed any more.
func (f *Forwarder) drop(c *call) {
	if c.kept > 0 {
		f.answers.give(c.kept)
		c.kept = 0
	}
}
