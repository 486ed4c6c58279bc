// Package disks runs a hub on disks that are full, read-only, failing or slow, and
// proves from outside what it does there:
//
//  1. On a disk that others have filled, whatever they have left of its bytes or its
//     inodes, a post is answered 201 or 507, every read is answered, and the process
//     goes on. Posts go on by themselves when there is room.
//  2. A hub that is started there serves reads, or refuses with exit code 70, a reason
//     and a way out. A stop there is an ordinary stop.
//  3. On a disk that fails or becomes read-only the hub ends with exit code 70, a reason
//     and a way out, and no call that it could not carry out is acknowledged.
//  4. On a disk that takes seconds for a sync reads and parked polls take as long as
//     ever, and posts are answered.
//  5. Every message that was acknowledged is there after a kill and a start, and none
//     that was refused with 507.
//  6. No line of the log is repeated for ever.
//
// The disks are file systems in memory, images on a loop device, and strace, which makes
// system calls fail or last. What a step does follows from a seed, which each failure
// names; when the agents call does not.
package disks
