// Package edit changes one entry of a configuration file that belongs to somebody
// else and leaves every other byte of it as it is: comments, order, spelling of
// numbers, indentation, line endings, byte order mark and final newline.
//
// It never writes a document anew. A parser finds the places, and the package
// cuts and splices text there. Before it returns the result, it parses the
// result again and compares it with the old document: if anything but the entry
// differs, it refuses the edit. So a bug here or in a parser costs an edit and
// never a file.
//
// It refuses documents that it does not understand with a *Refusal, which says
// why and where: documents that do not parse, that are too large or too deep,
// that have duplicate keys or parents of another type, and YAML in flow style
// or with anchors on the way to the entry.
//
// Insert, Remove, Replace and Get are pure: no file, no clock, no goroutine;
// they may be called from any goroutine and never change their arguments.
package edit
