// Package capsule has the commands that write projects into capsules, read them and take them in.
//
// The hub makes a plan first, and the commands show it; nothing is written without a yes.
package capsule
