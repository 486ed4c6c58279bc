// Package room has the commands for projects and rooms: to make, bind, lock and archive them, to invite and join, and
// for what rooms keep: decisions and artifacts.
package room
