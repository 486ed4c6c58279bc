package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// The files of a store that a client reads. Only the daemon uses the rest of
// the store.
const (
	tokenFile  = "operator.token"
	markerFile = "FORMAT"

	markerMagic = "hubcli store" // the first line of the marker in every format

	maxSecretBytes = 4096
)

// infoCall says which hub answers. It comes before the secret is read, each time,
// because another hub may serve the address by now.
const infoCall = "getHubInfo"

// operatorToken finds the secret for the hub at the address, and refuses to look
// for it when the hub is not on this machine.
func (c *Client) operatorToken(ctx context.Context) (string, error) {
	if c.base == nil || !OnThisMachine(c.base.String()) {
		return "", noToken("operator calls go to a hub on this machine only").
			WithFix("name an IP address of the hub, on its own machine")
	}
	info, err := c.Info(ctx)
	if err != nil {
		return "", err
	}
	return c.cfg.OperatorToken(ctx, info)
}

// StoreToken reads the operator token in the store folder of the hub that info
// describes, provided that the folder is that hub's: its marker names the same
// instance. Errors: operator_required otherwise.
func StoreToken(_ context.Context, info hub.Info) (string, error) {
	dir := info.StoragePath
	if !filepath.IsAbs(dir) {
		return "", noToken("the hub names no store folder on this machine").
			WithFix("run the command where the hub runs")
	}
	instance, err := StoreInstance(dir)
	if err != nil {
		return "", unreadable(dir, err)
	}
	if instance != info.InstanceID {
		return "", noToken("the store in "+dir+" belongs to another hub than the one that answers").
			With("instance_id", info.InstanceID).
			WithFix("check --host and --port; the token is shown to the store's own hub only")
	}
	b, err := osfile.ReadSmall(filepath.Join(dir, tokenFile), maxSecretBytes)
	if err != nil {
		return "", unreadable(dir, err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", unreadable(dir, errors.New(tokenFile+" holds no token"))
	}
	return token, nil
}

// StoreInstance reads the instance id of the store in the folder dir.
func StoreInstance(dir string) (hub.InstanceID, error) {
	b, err := osfile.ReadSmall(filepath.Join(dir, markerFile), maxSecretBytes)
	if err != nil {
		return "", err
	}
	return parseMarker(string(b))
}

// parseMarker finds the line "instance <id>" of a store's marker. The store
// checks the rest of the file; here it only has to be the marker of some store.
func parseMarker(s string) (hub.InstanceID, error) {
	rest, ok := strings.CutPrefix(s, markerMagic+"\n")
	if !ok {
		return "", fmt.Errorf("%s is no store's", markerFile)
	}
	for line := range strings.Lines(rest) {
		id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "instance ")
		if ok && id != "" {
			return hub.InstanceID(id), nil
		}
	}
	return "", fmt.Errorf("%s names no instance", markerFile)
}

func noToken(message string) *hub.Error { return hub.NewError(hub.CodeOperatorRequired, message) }

func unreadable(dir string, err error) *hub.Error {
	var p *fs.PathError
	why := err.Error()
	if errors.As(err, &p) {
		why = filepath.Base(p.Path) + ": " + p.Err.Error()
	}
	return noToken("the operator token of the store in "+dir+" cannot be read: "+why).
		With("storage_path", dir).
		WithFix("run the command as the user who started the hub")
}
