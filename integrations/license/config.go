package license

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"hubcli/integrations/license/keygen"
	"hubcli/internal/osfile"
)

// Names in the folder.
const (
	configName  = "config.json"
	stateName   = "state.json"
	keyName     = "key"
	machineName = "machine"
	clockName   = "clock"
	lockName    = "lock"
)

// Limits of files, in bytes.
const (
	maxConfig = 64 << 10
	maxState  = 512 << 10
	maxClock  = 64
)

// errNoConfig says that no license server is configured.
var errNoConfig = errors.New("no license server is configured")

// readConfig reads which server licenses the program. The file says whom the hub trusts, so
// one that others could have written is refused.
func readConfig(dir string) (keygen.Server, error) {
	name := filepath.Join(dir, configName)
	b, err := osfile.ReadSmallLinked(name, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return keygen.Server{}, errNoConfig
	case err != nil:
		return keygen.Server{}, fmt.Errorf("%s cannot be read: %w", configName, plain(err))
	}
	info, err := os.Stat(name)
	if err != nil {
		return keygen.Server{}, fmt.Errorf("%s cannot be read: %w", configName, plain(err))
	}
	if why := osfile.ForeignFile(info); why != "" {
		return keygen.Server{}, fmt.Errorf("%s %s", configName, why)
	}
	return parseConfig(b)
}

func parseConfig(b []byte) (keygen.Server, error) {
	var in struct {
		Server    string `json:"server"`
		Account   string `json:"account"`
		Product   string `json:"product"`
		PublicKey string `json:"public_key"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return keygen.Server{}, fmt.Errorf("%s is no JSON object with server, account, product and public_key: %w", configName, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return keygen.Server{}, fmt.Errorf("%s has more than one JSON object", configName)
	}
	public, err := keygen.ParsePublicKey(in.PublicKey)
	if err != nil {
		return keygen.Server{}, fmt.Errorf("%s: %w", configName, err)
	}
	s := keygen.Server{Base: in.Server, Account: in.Account, Product: in.Product, PublicKey: public}
	if err := s.Check(); err != nil {
		return keygen.Server{}, fmt.Errorf("%s: %w", configName, err)
	}
	return s, nil
}

// plain leaves the path out of an error about a file: the sentence names it.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
