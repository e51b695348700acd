package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tikv/client-go/v2/testutils"
)

// commander obeys lines: each is answered with OK, or with ERR and the reason.
type commander struct {
	cluster *testutils.MockCluster
	store   *store
	faults  *faults
	now     func() uint64
}

// serve obeys until the input ends.
func (c *commander) serve(in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if err := c.obey(strings.Fields(lines.Text())); err != nil {
			fmt.Fprintln(out, "ERR", err)
		} else {
			fmt.Fprintln(out, "OK")
		}
	}
}

func (c *commander) obey(words []string) error {
	switch {
	case len(words) == 1 && words[0] == "gc":
		return c.store.collect(c.now())
	case len(words) == 2 && words[0] == "split":
		return c.split(words[1])
	case len(words) == 2 && words[0] == "conflicts":
		return c.fault(&c.faults.conflicts, words[1])
	case len(words) == 2 && words[0] == "pause":
		return c.fault(&c.faults.pause, words[1])
	}
	return errors.New("unknown: gc, split HEXKEY, conflicts SECONDS and pause SECONDS are known")
}

func (c *commander) fault(moment *time.Time, text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	c.faults.set(moment, seconds)
	return nil
}

func (c *commander) split(text string) error {
	key, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	if len(key) == 0 {
		return errors.New("an empty key splits nothing")
	}
	splitRegion(c.cluster, key)
	return nil
}

// splitRegion splits the region that holds a plain key of the transactional store.
func splitRegion(c *testutils.MockCluster, key []byte) {
	encoded := encodeBytes(key)
	region, _, _ := c.GetRegionByKey(encoded)
	if string(region.StartKey) == string(encoded) {
		return
	}
	ids := c.AllocIDs(1 + len(region.Peers))
	c.SplitRaw(region.Id, ids[0], encoded, ids[1:], ids[1])
}

// encodeBytes is TiKV's form of a key, which compares as the key does: groups of 8 bytes, each
// filled up with zeros and followed by 0xFF minus the number of those.
func encodeBytes(key []byte) []byte {
	var encoded []byte
	for {
		var group [8]byte
		n := copy(group[:], key)
		encoded = append(append(encoded, group[:]...), byte(0xFF-(8-n)))
		if n < 8 {
			return encoded
		}
		key = key[n:]
	}
}
