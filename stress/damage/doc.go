// Package damage breaks the files of a store and proves from outside that a hub on it
// is whole, or says what is wrong:
//
//  1. The hub starts and has every message, task, artifact, memory and claim that it
//     ever told of, or a call that meets the damage answers corrupt_record, or the
//     hub refuses to start: with exit code 70, a reason and a way out.
//  2. It refuses in the same way when it is started again. It never panics.
//  3. `hubcli app doctor` names what is damaged, and changes nothing.
//  4. `hubcli app doctor --salvage` makes a new store that starts. A message there is
//     as it was, and a message that is not there is listed.
//
// The store is one that agents have filled, in three states: killed at work, stopped
// in order, and as it was halfway, from which single files are put back. The damages
// come from a seed, which every failure names.
package damage
