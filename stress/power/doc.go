// Package power cuts the power of a machine on which a hub works, again and again, and
// proves from what the machine says after its next start:
//
//  1. Every message whose post was answered is there, with the id and the text of the
//     answer, once.
//  2. No id of a message is ever given to another one.
//  3. Every claim that was granted is held, with the fence of the answer.
//  4. The hub starts, whatever the disk holds, and a search finds messages.
//
// The machine is a user-mode Linux: a kernel that is a process. Its disk is an image with
// ext4, its memory is lost when the process is killed, and with the memory goes all that was
// written and not synced. In it runs this program as the first process (guest_linux.go), with
// the built hub and its agents; each answer is a line on the console.
//
// A control shows that the rig can see a loss: the same hub, built without synced writes,
// must lose something. A cut does not model a disk that lies about a flush: the host keeps
// what has reached the image.
//
// The moments of the cuts come from a seed, which every failure names.
package power
