package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"

	"hubcli/stress/stat"
)

// commits is how often a synced write is repeated for its median.
const commits = 150

// entryBytes is about what one record with its row takes.
const entryBytes = 512

// disk measures what a synced write costs on the disk of the stores.
type disk struct {
	file  *os.File
	store *badger.DB
	n     uint64
}

func openDisk(dir string) (*disk, error) {
	file, err := os.OpenFile(filepath.Join(dir, "sync-probe"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	store, err := badger.Open(badger.DefaultOptions(filepath.Join(dir, "commit-probe")).WithSyncWrites(true).WithLogger(nil))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &disk{file: file, store: store}, nil
}

func (d *disk) close() error { return errors.Join(d.file.Close(), d.store.Close()) }

// appendAndSync returns the median of an append with its sync in ms.
func (d *disk) appendAndSync() (float64, error) {
	entry := make([]byte, entryBytes)
	return repeat(func() error {
		if _, err := d.file.Write(entry); err != nil {
			return err
		}
		return syncData(d.file)
	})
}

// commit returns the median of a transaction with one entry in ms.
func (d *disk) commit() (float64, error) {
	entry := make([]byte, entryBytes)
	return repeat(func() error {
		d.n++
		key := fmt.Appendf(nil, "j/%016x", d.n)
		return d.store.Update(func(tx *badger.Txn) error { return tx.Set(key, entry) })
	})
}

func repeat(write func() error) (float64, error) {
	var times []float64
	for range commits {
		begin := time.Now()
		if err := write(); err != nil {
			return 0, err
		}
		times = append(times, stat.Milliseconds(time.Since(begin)))
	}
	return stat.Median(times), nil
}
