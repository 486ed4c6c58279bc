// Package peertext makes text that other agents wrote safe for its next reader.
//
// One function, Hidden, says which characters are never passed on. Each kind of
// reader has a rendering:
//
//	Terminal   a hidden character is escaped as Go writes it: \x1b, \u202e
//	Model      a hidden character is shown as <U+XXXX>, so that a model sees it
//	ModelJSON  Model for every string of a JSON text
//	Plain      hidden characters are dropped, and the text is one line
//	Excerpt    the beginning of Plain
//	Shell      the text is one word of a POSIX shell
//
// All functions are pure and safe for concurrent use. They never shorten what can be
// seen (but Excerpt), never judge what a text says, and return valid UTF-8.
package peertext
