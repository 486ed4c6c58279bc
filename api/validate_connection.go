package api

import (
	"strings"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

// ValidateConnection checks a new connection.
func ValidateConnection(in *hub.ConnectionInput) error {
	if in.ProviderID == "" {
		return hub.Invalid("provider_id", "provider_id is missing").WithFix("name a preset, such as openai, or custom")
	}
	if len(in.Params) > 4 {
		return hub.Invalid("params", "no provider has so many parameters")
	}
	if in.Label != "" {
		if err := validateLabel(in.Label); err != nil {
			return err
		}
	}
	return first(
		checkBounds(in), validateKey(in.Key, in.KeyVariable, in.EnvCredential, in.NoKey),
	)
}

// ValidateConnectionKey checks a key that is given anew.
func ValidateConnectionKey(in *hub.ConnectionKeyInput) error {
	return validateKey(in.Key, in.KeyVariable, in.EnvCredential, in.NoKey)
}

// ValidateConnectionUpdate checks a change.
func ValidateConnectionUpdate(in *hub.ConnectionUpdate) error {
	if in.Label == nil && in.Region == nil && in.Endpoint == nil {
		return hub.Invalid("label", "nothing is to change").WithFix("give a label, a region or an endpoint")
	}
	if in.Label != nil {
		if err := validateLabel(*in.Label); err != nil {
			return err
		}
	}
	for field, value := range map[string]*string{"region": in.Region, "endpoint": in.Endpoint} {
		if value != nil {
			if err := checkName(field, *value, hub.MaxEndpointBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	likeConnectionID = lazy.Regexp{Pattern: `^(?i:cn_[0-9a-z]*)$`}
	variableName     = lazy.Regexp{Pattern: `^[A-Za-z_][A-Za-z0-9_]{0,127}$`}
)

func validateLabel(label string) error {
	if likeConnectionID.MatchString(label) {
		return hub.Invalid("label", "a label may not look like an id").WithFix("choose a label that does not begin with cn_")
	}
	return hub.CheckConnectionLabel(label)
}

// validateKey refuses a key that no provider gives out, and more than one source. The
// refusal holds no part of the key.
func validateKey(key, variable string, env, none bool) error {
	sources := 0
	for _, given := range []bool{key != "", variable != "", env, none} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return hub.Invalid("key", "the key can come from one place alone").
			WithFix("give one of key, key_variable, env_credential and no_key")
	case len(key) > hub.MaxProviderKey:
		return hub.Invalid("key", "the key is too long").With("limit", hub.MaxProviderKey).
			WithFix("check that it is the key alone and not a whole file")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return hub.Invalid("key", "the key has a blank or a character that no key has").
			WithFix("check that it is the key alone, on one line and without quotation marks")
	case variable != "" && (!variableName.MatchString(variable) || likeKey(variable)):
		return hub.Invalid("key_variable", "key_variable is no name of a variable").WithFix("give the name of the variable, not the key")
	}
	return nil
}

// keyRun is how many letters and digits follow each other in a key, at the least.
const keyRun = 16

// likeKey reports whether a name of a variable is rather a key that was pasted there. An
// answer about a variable that is not set has its name, so it would have the key. Keys have
// long runs of digits and small letters; names of variables have words.
func likeKey(name string) bool {
	for _, run := range strings.Split(name, "_") {
		small := strings.ContainsFunc(run, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if len(run) >= keyRun && small && strings.ContainsAny(run, "0123456789") {
			return true
		}
	}
	return false
}
