package client

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"hubcli/hub"
)

// backupSilence is how long a backup may make no progress.
const backupSilence = time.Minute

// Backup writes a backup of the hub's store to w as it arrives. It carries the
// operator token. It is sent once: what w has after an error is no backup. The
// caller checks the content, because a stream that breaks off may look complete
// here. The error of w is returned as it is.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	s, err := c.prepare(ctx, call{target: to("backup")})
	if err != nil {
		return err
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(backupSilence, func() { cancel(context.DeadlineExceeded) })
	defer silent.Stop()
	req, err := c.request(limited, s)
	if err != nil {
		return hub.Errorf(hub.CodeInvalid, "the call cannot be made: %v", err)
	}
	res, err := c.carrier(s).Do(req)
	if NeverSent(err) && ctx.Err() == nil {
		return c.noPlane(ctx, err).err
	}
	if err != nil {
		return c.brokenBackup(ctx, limited, err, false)
	}
	defer res.Body.Close()
	if t, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || t != "application/octet-stream" || res.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
		if err != nil {
			return c.brokenBackup(ctx, limited, err, true)
		}
		if _, err = c.read(s, res, body); err == nil {
			return c.notAHub("it answered " + strconv.Itoa(res.StatusCode) + " without a backup")
		}
		var f *failure
		if errors.As(err, &f) {
			return f.err
		}
		return err
	}
	out := &progress{w: w, timer: silent}
	if _, err = io.Copy(out, res.Body); err != nil {
		if out.failed != nil {
			return out.failed
		}
		return c.brokenBackup(ctx, limited, err, true)
	}
	return nil
}

func (c *Client) brokenBackup(ctx, limited context.Context, err error, spoke bool) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(limited), context.DeadlineExceeded):
		return &hub.Error{
			Code: hub.CodeNoAnswer, Message: "the hub at " + c.BaseURL() + " sent nothing of the backup for " + backupSilence.String(),
			Fix: "see what holds it up: hubcli app debug --base-url " + c.BaseURL(),
		}
	}
	return c.unanswered(ctx, err, backupSilence, true, spoke).err
}

// progress remembers the error of a writer, and winds the timer of silence.
type progress struct {
	w      io.Writer
	timer  *time.Timer
	failed error
}

func (p *progress) Write(b []byte) (int, error) {
	p.timer.Stop() // a slow disk is not the hub's silence
	n, err := p.w.Write(b)
	if err != nil {
		p.failed = err
	}
	p.timer.Reset(backupSilence)
	return n, err
}
