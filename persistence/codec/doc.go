// Package codec renders what a store keeps, and reads it back: keys, frames of records, blocks of messages, lists of ids, rows,
// effects and gaps. Its versions, sizes and checksums are part of the store's format (docs/formats.md).
//
// Its functions are pure and may be called by any goroutine; an Encoder or Decoder belongs to one. The package never touches
// a file.
package codec
