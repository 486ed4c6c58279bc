// Package forwarder is the hub's side of a spool: it takes the requests that
// agents leave there, sends them to the hub and writes the responses.
//
// The spool is not trusted: a process that may write to it may write anything,
// at any moment. The forwarder follows no link, opens only regular files, and
// lets a file act only for the agent of its folder.
//
// Any number of forwarders, in any number of processes, may serve one spool. A
// Forwarder is run once; its goroutines end with Run. The package never starts a
// hub, never makes a call that no file asks for, and decides nothing about
// messages.
package forwarder
