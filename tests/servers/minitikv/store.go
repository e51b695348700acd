package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/pingcap/goleveldb/leveldb"
	"github.com/tikv/client-go/v2/testutils"
)

// store is the transactional store: the mock over LevelDB, in a folder or, where path is empty, in
// memory.
type store struct {
	path   string
	gate   sync.RWMutex // held to write while garbage is collected, to read by each request
	client *testutils.MockClient
}

// openStore opens the store in a folder, and ends a collection that a crash cut short.
func openStore(path string) (*store, *testutils.MockCluster, *pdServer, error) {
	if path != "" {
		if err := mend(path); err != nil {
			return nil, nil, nil, err
		}
	}
	client, cluster, pd, err := testutils.NewMockTiKV(path, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	return &store{path: path, client: client}, cluster, &pdServer{pd: pd}, nil
}

// collect removes what no snapshot from now on can see: versions that were overwritten or deleted.
// A folder is then written anew with what is left, for LevelDB itself keeps removed pairs in its
// files until it happens to merge them.
func (s *store) collect(now uint64) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if err := s.resolve(now); err != nil {
		return err
	}
	if err := s.client.MvccStore.GC(nil, nil, now); err != nil {
		return err
	}
	if s.path == "" {
		return nil
	}
	if err := s.client.MvccStore.Close(); err != nil {
		return err
	}
	rewritten := rewrite(s.path)
	client, _, _, err := testutils.NewMockTiKV(s.path, nil) // the old data where it failed
	if err != nil {
		return err
	}
	s.client.MvccStore = client.MvccStore
	return rewritten
}

// resolve ends the transactions that died with locks. One that lives may still need what is to go.
func (s *store) resolve(now uint64) error {
	mvcc := s.client.MvccStore
	locks, err := mvcc.ScanLock(nil, nil, now)
	if err != nil {
		return err
	}
	for _, lock := range locks {
		start := lock.LockVersion
		ttl, commit, _, err := mvcc.CheckTxnStatus(lock.PrimaryLock, start, now, now, true, false)
		if err != nil {
			return err
		}
		if ttl > 0 {
			return fmt.Errorf("a transaction holds %d locks: end it first", len(locks))
		}
		if err := mvcc.ResolveLock(nil, nil, start, commit); err != nil {
			return err
		}
	}
	return nil
}

// rewrite copies the pairs of a LevelDB that nobody has open into new files, which take the place
// of the old ones.
func rewrite(path string) error {
	if err := copyPairs(path, path+".new"); err != nil {
		return err
	}
	if err := os.Rename(path, path+".old"); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return os.RemoveAll(path + ".old")
}

func copyPairs(from, to string) error {
	old, err := leveldb.OpenFile(from, nil)
	if err != nil {
		return err
	}
	defer old.Close()
	fresh, err := leveldb.OpenFile(to, nil)
	if err != nil {
		return err
	}
	pairs := old.NewIterator(nil, nil)
	defer pairs.Release()
	for pairs.Next() {
		if err := fresh.Put(pairs.Key(), pairs.Value(), nil); err != nil {
			return err
		}
	}
	if err := pairs.Error(); err != nil {
		return err
	}
	return fresh.Close()
}

// mend leaves one whole folder where rewrite was cut short.
func mend(path string) error {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		if err := os.Rename(path+".old", path); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if err := os.RemoveAll(path + ".new"); err != nil {
		return err
	}
	return os.RemoveAll(path + ".old")
}
