package client

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// maxInfoBytes bounds the answer to a challenge, header and body.
const maxInfoBytes = 64 << 10

// challenge is the first request on a connection: what the other end makes of a nonce that
// was never used before.
type challenge struct {
	nonce string
	at    netip.AddrPort // of the other end
}

// put sends the challenge and returns what the hub says of itself; without a proof there is none. The connection can be used for
// requests afterwards. An error says that the other end did not answer in time, went away or
// is not ready; what answers something else than a hub would is an impostor.
func (c *challenge) put(ctx context.Context, conn net.Conn) (says hub.Info, err error) {
	if err := conn.SetDeadline(deadline(ctx)); err != nil {
		return says, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	op := api.OperationByID(infoCall)
	request := op.Method + " " + op.Path + "?nonce=" + c.nonce + " HTTP/1.1\r\nHost: " + shown(c.at) + "\r\nAccept: " + api.ContentType + "\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		return says, err
	}
	limited := &io.LimitedReader{R: conn, N: maxInfoBytes}
	r := bufio.NewReader(limited)
	if _, err := r.Peek(1); err != nil {
		return says, err // nobody has said anything
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return says, c.unlike(err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	switch {
	case err != nil:
		return says, c.unlike(err)
	case res.StatusCode == http.StatusServiceUnavailable:
		return says, errUnready
	case r.Buffered() > 0: // more than was asked for
		return says, impostor(c.at)
	}
	var e struct {
		Result hub.Info `json:"result"`
	}
	if json.Unmarshal(body, &e) != nil || e.Result.Proof == "" {
		return says, nil
	}
	if res.Close { // a hub that stops: it answers nothing more on this connection
		return says, io.EOF
	}
	if !stop() {
		return says, context.Cause(ctx)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return says, err
	}
	return e.Result, nil
}

// unlike is the error for an answer that cannot be read: one that broke off, or none of HTTP.
func (c *challenge) unlike(err error) error {
	if brokeOff(err) {
		return err
	}
	return impostor(c.at)
}
