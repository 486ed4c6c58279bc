// Package list is what commands show of a hub: lists with their flags, which may be followed, the names of rooms, and
// what an operator may see.
//
// It asks a hub over HTTP and keeps nothing between two calls. It changes nothing in a hub.
package list
