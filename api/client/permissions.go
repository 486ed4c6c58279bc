package client

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// PermissionPolicy returns what becomes of permission prompts. It carries the operator token.
func (c *Client) PermissionPolicy(ctx context.Context) (hub.PermissionPolicy, error) {
	return get[hub.PermissionPolicy](ctx, c, to("getPermissions"), nil)
}

// SetPermissionPolicy replaces it. It carries the operator token.
func (c *Client) SetPermissionPolicy(ctx context.Context, in hub.PermissionPolicyInput) (hub.Outcome[hub.PermissionPolicy], error) {
	return write[hub.PermissionPolicy](ctx, c, to("setPermissions"), in)
}

// AwaitPermission waits for the operator's answer, for in.WaitSec.
func (c *Client) AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error) {
	return c.await(ctx, id, in, in.WaitSec)
}

func (c *Client) await(ctx context.Context, id hub.AskID, body any, sec float64) (hub.Permission, error) {
	wait := time.Duration(min(max(sec, 0), hub.MaxPermissionWaitSec) * float64(time.Second))
	row, _, err := result[hub.Permission](ctx, c, call{target: at("awaitPermission", id), body: body, wait: wait})
	return row, err
}

// Judge is a client that passes on only those verdicts on permission prompts that the hub has
// proved to have made itself. Whoever else answers at its address cannot prove any.
type Judge struct {
	*Client
	token func() (string, error)
}

// Judge returns such a client. token finds the operator's token of the hub that this user
// runs at the address; it must not ask the server at the address where that is.
func (c *Client) Judge(token func() (string, error)) Judge { return Judge{c, token} }

// errUnproved is the error of a verdict that anybody may have made.
var errUnproved = errors.New("nothing proves that the verdict is that of this user's hub")

// RequestPermission asks whether a tool may run. Errors: also those of the token, and one for
// a verdict that is not proved.
func (j Judge) RequestPermission(ctx context.Context, in hub.PermissionInput) (hub.Permission, error) {
	in.Nonce = newKey()
	return j.proved(in.Nonce, in, func(body any) (hub.Permission, error) {
		return change[hub.Permission](ctx, j.Client, to("requestPermission"), body)
	})
}

// AwaitPermission waits for the operator's answer, for in.WaitSec. Errors: as RequestPermission.
func (j Judge) AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error) {
	in.Nonce = newKey()
	return j.proved(in.Nonce, in, func(body any) (hub.Permission, error) { return j.await(ctx, id, body, in.WaitSec) })
}

// proved sends a body and checks the answer to it.
func (j Judge) proved(nonce string, in any, send func(body any) (hub.Permission, error)) (hub.Permission, error) {
	token, err := j.token()
	if err != nil {
		return hub.Permission{}, err
	}
	body, err := json.Marshal(in)
	if err != nil {
		return hub.Permission{}, err
	}
	p, err := send(json.RawMessage(body)) // its bytes are sent as they are
	if err == nil && !api.VerdictHolds(token, nonce, sha256.Sum256(body), &p) {
		return hub.Permission{}, errUnproved
	}
	return p, err
}
