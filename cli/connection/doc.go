// Package connection has the commands for connections to model providers. A key is read from the terminal or from
// standard input, never from an argument, and is never printed.
package connection
