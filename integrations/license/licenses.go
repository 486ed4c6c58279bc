package license

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
	"hubcli/integrations/license/machine"
)

// Options configure Licenses. Dir is required.
type Options struct {
	Dir     string       // license, in the data root
	Secrets Secrets      // nil: keys are kept in a file
	Logger  *slog.Logger // nil discards
	Now     func() time.Time
	// ReadOnly looks and writes nothing, not even the time.
	ReadOnly bool
	// Fingerprint names this machine; nil: machine.Fingerprint.
	Fingerprint func(product, fallback string) (string, error)
}

// Licenses is the license of this machine. It implements hub.Licenses.
type Licenses struct{ options Options }

var _ hub.Licenses = (*Licenses)(nil)

// New returns the license that a folder keeps. It reads and writes nothing.
func New(o Options) *Licenses {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fingerprint == nil {
		o.Fingerprint = machine.Fingerprint
	}
	return &Licenses{options: o}
}

// platform is all that the server learns of the machine beside its fingerprint.
const platform = runtime.GOOS + "/" + runtime.GOARCH

// fileTTL is for how long a machine file is asked for. A license that ends earlier ends
// earlier: the file says when.
const fileTTL = 365 * 24 * time.Hour

func (l *Licenses) fingerprint(product string) (string, error) {
	return l.options.Fingerprint(product, l.path(machineName))
}

// server returns the configured server, or the error of a call that needs one.
func (l *Licenses) server() (*keygen.Server, error) {
	s, err := readConfig(l.options.Dir)
	switch {
	case errors.Is(err, errNoConfig):
		return nil, hub.NewError(hub.CodeLicenseUnconfigured, "no license server is configured; everything works without a license").
			With("config_path", l.path(configName))
	case err != nil:
		return nil, hub.NewError(hub.CodeLicenseUnconfigured, "the license server is not configured as it should be: "+err.Error()).
			With("config_path", l.path(configName)).WithFix("correct the configuration; the documentation of licenses shows one")
	}
	return &s, nil
}

// call has something done with a client, within the time of a call.
func (l *Licenses) call(ctx context.Context, s *keygen.Server, do func(context.Context, *keygen.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, hub.MaxLicenseCall)
	defer cancel()
	c := keygen.New(*s, l.options.Now)
	defer c.Close()
	return do(ctx, c)
}

// confirmed compares what the operator confirmed with the plan.
func (p *plan) confirmed(digest string) error {
	detail := map[string]any{"prompt": p.prompt, "digest": p.digest}
	switch digest {
	case p.digest:
		return nil
	case "":
		return hub.NewError(hub.CodeConfirmRequired, "this changes the license of the machine and must be confirmed").WithDetail(detail).
			WithFix("show detail.prompt word for word; if the answer is yes, send the call again with confirm: detail.digest")
	}
	return hub.NewError(hub.CodePlanChanged, "what was confirmed no longer fits").WithDetail(detail).
		WithFix("show detail.prompt word for word; if the answer is yes, send the call again with confirm: detail.digest")
}

// failedHere is the error of a file or a store of this machine.
func failedHere(err error) error {
	return hub.NewError(hub.CodeLicenseUnreadable, fmt.Sprintf("the license could not be saved or read on this machine: %v", plain(err))).
		WithFix("mend the cause that the message names, and repeat the call: it goes on where it ended")
}
