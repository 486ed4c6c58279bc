// Package hook answers the hooks of agent harnesses: the programs in which AI
// coding agents run call it when a session begins and when a turn ends. It tells
// the agent what goes on in its room, and holds a turn once for messages that
// were meant for the agent.
//
// A hook runs within somebody's work, so its first promise is to do no harm: it
// prints the harness's own form of answer and nothing else, keeps to the budget
// of its context, and is silent whenever it cannot tell what would be right. It
// starts no hub, waits for nobody, and writes no message body and no secret to a
// file.
//
// Parse, Recognize and the texts are pure. Config.Run puts them together with a
// Service; it is safe for concurrent use, by other processes too: what may be
// said once is said by one of them.
package hook
