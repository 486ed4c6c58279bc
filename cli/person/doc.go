// Package person has the commands with which a person sees what is in the hub, steers agents and answers them. Their
// names stand below "hubcli app", and most of them at the top too.
//
// A command fills a struct of its own from its flags, checks its arguments and then runs against term.Env.
package person
