package api

import "hubcli/hub"

// ValidateLicenseActivate checks the form of the input. Whether the key is good is for others
// to say; no error shows it.
func ValidateLicenseActivate(in *hub.LicenseActivateInput) error {
	switch {
	case in.Key == "":
		return hub.Invalid("key", "key is missing").WithFix("give the license key")
	case len(in.Key) > hub.MaxLicenseKeyBytes:
		return hub.Invalid("key", "key is too long").With("limit", hub.MaxLicenseKeyBytes).With("size", len(in.Key)).WithFix("give the license key alone")
	}
	return checkConfirm(in.Confirm)
}

// ValidateLicenseDeactivate checks the form of the input.
func ValidateLicenseDeactivate(in *hub.LicenseDeactivateInput) error { return checkConfirm(in.Confirm) }

func checkConfirm(digest string) error {
	if digest == "" {
		return nil
	}
	return hub.CheckName("confirm", digest, hub.MaxNameChars)
}
