// Package actors runs the owners of the hub's state, the sequencer that orders
// what they decide, and the views that show what is durable.
package actors
