package httpapi

import (
	"context"

	"hubcli/api"
	"hubcli/hub"
)

func licenseHandlers() handlers {
	return handlers{
		"getLicense":        getLicense,
		"verifyLicense":     verifyLicense,
		"activateLicense":   changeLicense(api.ValidateLicenseActivate, hub.Licenses.ActivateLicense),
		"deactivateLicense": changeLicense(api.ValidateLicenseDeactivate, hub.Licenses.DeactivateLicense),
	}
}

func getLicense(c *call) (reply, error) { return oneRow(c.licenses().License(c.context())) }

func verifyLicense(c *call) (reply, error) {
	c.parks(hub.MaxLicenseCall)
	return oneRow(c.licenses().VerifyLicense(c.context()))
}

// changeLicense handles a change of the license. What is licensed is this machine, and a key
// stays on it: callers on other machines are refused.
func changeLicense[I any](validate func(*I) error, change func(hub.Licenses, context.Context, I) (hub.License, error)) handler {
	return func(c *call) (reply, error) {
		if !c.local {
			return reply{}, hub.NewError(hub.CodeOperatorRequired, "the license of the machine is changed from the machine itself only").
				WithFix("make the call on the machine of the hub")
		}
		var in I
		if err := c.decode(&in); err != nil {
			return reply{}, err
		}
		if err := validate(&in); err != nil {
			return reply{}, err
		}
		c.saltHash() // the body may hold a key
		c.parks(hub.MaxLicenseCall)
		return once(c, func() (hub.License, error) { return change(c.licenses(), c.context(), in) })
	}
}

func (c *call) licenses() hub.Licenses { return c.server.config.Licenses }

// noLicenses serves a hub that keeps nothing of its own on the machine.
type noLicenses struct{}

func (noLicenses) License(context.Context) (hub.License, error) {
	return hub.License{State: hub.LicenseNone, Why: "this hub has no data root or was built without licenses; everything works without one"}, nil
}

func (noLicenses) VerifyLicense(context.Context) (hub.LicenseVerification, error) {
	return hub.LicenseVerification{}, noLicense()
}

func (noLicenses) ActivateLicense(context.Context, hub.LicenseActivateInput) (hub.License, error) {
	return hub.License{}, noLicense()
}

func (noLicenses) DeactivateLicense(context.Context, hub.LicenseDeactivateInput) (hub.License, error) {
	return hub.License{}, noLicense()
}

func noLicense() error {
	return hub.NewError(hub.CodeLicenseUnconfigured, "this hub has no data root or was built without licenses").WithFix("start the hub as a user who has a home folder, with a hubcli that was built with licenses")
}
