package api

import (
	"time"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

// Limits of what a program sends to get a pass.
const (
	maxPassCode  = 64
	maxPassLabel = 64
)

// ValidatePass checks the exchange of a code.
func ValidatePass(in *hub.PassInput) error {
	if in.Code == "" || len(in.Code) > maxPassCode {
		return hub.Invalid("code", "code must have 1 to 64 characters").WithFix("send the code that the operator has made for the console")
	}
	if n := utf8.RuneCountInString(in.Label); n > maxPassLabel {
		return hub.Invalid("label", "label is too long").With("limit", maxPassLabel).With("size", n).WithFix("name the program in a few words")
	}
	return nil
}

// ValidatePassCode checks the life of the pass that a code is for.
func ValidatePassCode(in *hub.PassCodeInput) error {
	life := time.Duration(in.TTLSec) * time.Second
	if in.TTLSec != 0 && (life < hub.MinPassLife || life > hub.MaxPassLife) {
		return hub.Invalid("ttl_sec", "ttl_sec is out of range").
			With("min", int(hub.MinPassLife/time.Second)).With("max", int(hub.MaxPassLife/time.Second)).
			WithFix("name seconds from 10 to 2592000, or leave it out for twelve hours")
	}
	return nil
}

var passIDForm = lazy.Regexp{Pattern: `^pass_[0-9a-z]{1,32}$`}

// CheckPassID refuses what is no id of a pass. It does not say whether there is the pass.
func CheckPassID(id hub.PassID) error {
	if !passIDForm.MatchString(string(id)) {
		return hub.Invalid("pass_id", "pass_id is no id of a pass").WithFix("send the pass_id of the answer that has issued the pass")
	}
	return nil
}
