// Package hook answers the hooks of agent harnesses: the programs in which AI
// coding agents run call it when a session begins and when a turn ends. It
// tells the agent what goes on in its room, and keeps a turn from ending once
// if messages for the agent are unread. Git calls it before a commit.
//
// A hook interrupts an agent's work, so its first promise is to do no harm. It
// prints only an answer in the harness's form, keeps to the time limit of its
// context, and is silent if it cannot decide what is right. It starts no hub,
// does not wait for other agents, and writes no message body and no secret to a
// file.
//
// Parse, Recognize and the texts are pure. Config.Run puts them together with a
// Service; it is safe for concurrent use, also by several processes: a text
// that may be shown once is shown by one of them.
package hook
