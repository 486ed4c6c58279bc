// Package replayfile makes one HTML file of the history of a room, which a browser shows
// without a hub and without a network: the messages, and what stood beside them at many
// moments. The viewer in it is built from the folder web and embedded.
//
// A Replay is used by one goroutine. The package knows no hub: it asks a Source, and it writes
// no file. No text of an agent becomes markup or code of the page, and the page's own policy
// forbids it to ask any host for anything.
package replayfile
