package client

import (
	"context"

	"hubcli/hub"
)

var _ hub.Licenses = (*Client)(nil)

// License says what the hub's machine knows of its license. It carries the operator token.
func (c *Client) License(ctx context.Context) (hub.License, error) {
	return get[hub.License](ctx, c, to("getLicense"), nil)
}

// VerifyLicense has the license server asked. It carries the operator token.
func (c *Client) VerifyLicense(ctx context.Context) (hub.LicenseVerification, error) {
	return change[hub.LicenseVerification](ctx, c, to("verifyLicense"), nil)
}

// ActivateLicense activates the hub's machine. It carries the operator token.
func (c *Client) ActivateLicense(ctx context.Context, in hub.LicenseActivateInput) (hub.License, error) {
	return change[hub.License](ctx, c, to("activateLicense"), in)
}

// DeactivateLicense gives the place of the hub's machine back. It carries the operator token.
func (c *Client) DeactivateLicense(ctx context.Context, in hub.LicenseDeactivateInput) (hub.License, error) {
	return change[hub.License](ctx, c, to("deactivateLicense"), in)
}
