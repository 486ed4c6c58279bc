// Package capsules moves projects between the rows of a hub and capsules.
//
// An export reads one snapshot of the rows twice: a survey finds what belongs to the project
// and numbers it, then everything is written in the order of these numbers. Its memory is a
// few bytes for each message, and one message or artifact at a time. It decides nothing and
// changes nothing.
//
// An export is used by one goroutine. It opens no file, reads no clock and draws no random
// number: the caller gives the writer, the identity of the capsule and the redaction.
package capsules
