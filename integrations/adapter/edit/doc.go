// Package edit changes one entry of a configuration file that belongs to somebody
// else and leaves every other byte of it as it is: comments, order, spelling of
// numbers, indentation, line endings, byte order mark and final newline.
//
// It never writes a document anew. A parser says where things stand, the package
// cuts and splices text there, and before it hands the result out it parses that
// again and compares it with what the document held: exactly the entry differs, or
// the document is refused. So a mistake in here, or in a parser, costs an edit and
// never a file.
//
// What it does not understand it refuses with a *Refusal, which says why and where:
// documents that do not parse, keys that are there twice, parents of another type,
// too large or too deep ones, YAML in flow style or with anchors on the way.
//
// Insert, Remove, Replace and Get are pure: no file, no clock, no goroutine; they
// may be called from anywhere and never change the bytes they are given.
package edit
