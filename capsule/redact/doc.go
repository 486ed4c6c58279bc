// Package redact makes texts safe to leave the machine. It replaces secrets, what names
// this machine and its people, and the values that its caller knows to be secret, by tags.
//
// A tag is [redacted:rule:tag], where the last part is eight hexadecimal digits. They are
// the start of an HMAC-SHA256 of the value under a salt, so that equal values stay equal
// within one export, and tell nothing to a reader without the salt. A text that has been
// redacted is not changed by redacting it again.
//
// A Redactor is used by one goroutine at a time. Its rules are compiled when they are first
// wanted, and all Redactors of a process share them. The package reads no file, no clock and
// no random source, and asks nobody whether a secret is valid.
package redact
