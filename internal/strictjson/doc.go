// Package strictjson reads JSON that others have written: bodies of requests, lines of
// capsules, arguments of tools. It is the one place that says which texts are taken.
//
// It refuses everything that RFC 8259 refuses, and also text that is not UTF-8, a name that
// stands twice in one object, half of a surrogate pair, numbers that no float64 holds,
// nesting beyond MaxDepth, and text behind the value. Two readers could understand each of
// these differently. What a text means for a struct is the caller's.
//
// A Scanner belongs to one call of Read. Functions keep nothing of a text and may be
// called from any goroutine.
package strictjson
