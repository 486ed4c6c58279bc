package term

import (
	"fmt"
	"os"
	"runtime"

	"hubcli/internal/hubfile"
)

// DataRoot returns the folder of this user's data.
func (e *Env) DataRoot() (string, error) {
	root, err := hubfile.DataRoot(e.Getenv, runtime.GOOS)
	if err != nil {
		return "", Usage("set HUB_DATA_ROOT to a folder", "%v", err)
	}
	return root, nil
}

// MakeDataRoot creates the data root for this user alone if need be. A folder that
// exists keeps its mode: it may be somebody's choice.
func (e *Env) MakeDataRoot() error {
	root, err := e.DataRoot()
	if err == nil {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return RootNotMade(err)
		}
	}
	return err
}

// RootNotMade is the failure of a data root that cannot be made.
func RootNotMade(err error) *Failure {
	return &Failure{
		Exit: ExitRefused, Err: err,
		Sentence: fmt.Sprintf("the data root cannot be made: %v", err),
		Fix:      "set HUB_DATA_ROOT to a folder that you may write to",
	}
}
