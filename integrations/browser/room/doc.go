// Package room is the browser of rooms. It starts one browser engine when a room wants to
// see a page, and ends it when nobody has used it for a while. Each room has a page in a
// context of its own, with which agents do steps.
//
// A page is hostile. Its engine is sandboxed, has a profile that is thrown away, and
// reaches the network through package gate alone. Whatever a page does, a step ends in its
// time: a page that does not answer is closed, and an engine that does not answer is
// killed. A Manager may be used by several goroutines at once; steps with one page wait
// for each other. The package knows no agent and no claim, keeps nothing on the disk when
// its engine is gone, and never hands a page a file.
package room
