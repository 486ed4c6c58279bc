// Package persistence keeps the hub's store: the folder that --storage names.
// The store holds the journal of records, the rows that readers fetch and the
// checkpoints of the owners' states. A crash of the process or the system and a
// loss of power lose nothing that was acknowledged. If something is missing,
// the hub refuses to start and says why.
//
// # The folder
//
//	<store>/               0700; the hub's own files 0600
//	├─ FORMAT              marker: format version, instance id, CRC; the last file of a new store
//	├─ LOCK                flock and identity of the one hub that has the store open; the folder is locked, too
//	├─ HEAD                the end of the journal, kept independently of Badger
//	├─ key                 32 secret bytes and their CRC
//	├─ operator.token      the operator's secret
//	├─ SALVAGED            what the store lacks, if it was brought up from a damaged one
//	├─ ballast             allocated space, given up when the disk fills
//	├─ badger/             journal and rows, one Badger database
//	│  └─ aside/           debris of a crash, kept until the next start
//	├─ plans/              capsules of exports that are planned; see capsule/transfer
//	└─ checkpoints/        <seq, 20 digits>.ckpt, the newest three
//
// # Keys and values
//
// All numbers are big endian, so that keys sort by number. CRC is a CRC-32C of
// what follows it. It includes the key where a value could be read under a
// wrong key.
//
//	j/<first seq 8>              frame: one group of records, write-once
//	m/<first id 8>               block: messages of one group, ids without a gap
//	c/<channel>\0<first id 8>    public messages of a channel, one entry per group
//	t/<thread>\0<first id 8>     messages of a thread, one entry per group
//	i/<agent>\0<first id 8>      direct messages to an agent, one entry per group
//	e/<table 1>/<key>            entity row, the latest state
//	d/<scope 32>                 idempotency effect; it expires
//	g/<first seq 8>              a range of numbers that no record has: given up by
//	                             --accept-truncated, lost in a salvage, or taken by an import
//	u/<first seq 8>              the same range, if an import took it; see stage.go
//	r/                           the last frame whose redo list has been carried out
//
//	frame    version 1 │ CRC 4 │ flags 1 │ first seq 8 │ count 4 │ record… │ [redo list]
//	record   version 1 │ CRC 4 │ length 4 │ seq 8 │ owner kind 1 │ owner name str │ hub ms 8 │ wall 8 │
//	         first message 8 │ messages 4 │ first fence 8 │ fences 4 │ facts 4 │ (type 2 │ data bytes)…
//	block    version 1 │ CRC 4 (key, count, ends) │ count 4 │ (end of a message 4)… │ message…
//	index    empty if the key's id is the only one, else
//	         version 1 │ CRC 4 (key, rest) │ (distance to the next id, uvarint)…
//	message  version 1 │ CRC 4 │ id 8 │ ts 8 │ flags 1 │ from str │ to str │ channel str │ thread str │ kind str │
//	         body start 4 │ body end 4 │ body characters 4 │ JSON…
//	row      version 1 │ CRC 4 (key, value) │ value…
//	effect   version 1 │ CRC 4 (scope, rest) │ kind 1 │ body hash 32 │ seq 8 │ at 8 │ answer…
//	str = length 2, bytes; bytes = length 4, bytes
//
// A group is one Badger transaction. A group that exceeds Badger's limits for a
// transaction is written with a redo list. Its frame then also carries all its
// rows, and is the commit point. The rows follow in further transactions. If
// the process dies before the last one, Open carries the list out again. So a
// group of any size is written as a whole or not at all.
//
// # Concurrency
//
// One goroutine appends. Everything else may be called from any goroutine.
// Reads never wait for a commit in flight: the store gives out its own commit
// timestamps (Badger's managed mode), and a read uses the last synced one. No
// call touches Badger after Close.
//
// The package never parses the body of a fact or of a message, never decides
// and never repairs silently. Of the files that it cannot read, it deletes only
// debris: a crash left it, and no list names it. It does so only at the next
// start.
package persistence
