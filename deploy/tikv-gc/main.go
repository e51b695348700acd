// tikv-gc moves the point before which TiKV may forget old versions. TiDB does it where there is
// one; Eunoe has none, and TiKV would keep every version of every key, erased ones too.
//
// A round: take a point KEEP before now, lowered to what backups still need; end the transactions
// that died before it with locks; tell the placement driver. Each TiKV asks the driver for it about
// once a minute, and drops what is older as it compacts. Rounds repeat without harm, and
// nothing is kept between them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/pingcap/log"
	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"
)

const (
	service   = "gc_worker" // what TiDB calls itself there: two that collect see each other's point
	keepMin   = time.Minute // a transaction of Eunoe lives seconds; younger ones are never cut off
	roundsMax = 3           // so many rounds may fail before the process counts as unwell
)

type options struct {
	drivers, beat string
	every, keep   time.Duration
	once, healthy bool
}

func main() {
	var o options
	flag.StringVar(&o.drivers, "pd", "127.0.0.1:2379", "placement drivers, comma-separated")
	flag.StringVar(&o.beat, "beat", "/tmp/tikv-gc", "file that is touched after each round")
	flag.DurationVar(&o.every, "every", 5*time.Minute, "from one round to the next")
	flag.DurationVar(&o.keep, "keep", 10*time.Minute, "age from which old versions may go")
	flag.BoolVar(&o.once, "once", false, "do one round and end")
	flag.BoolVar(&o.healthy, "healthy", false, "only say by the exit code whether rounds succeed")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "tikv-gc:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.keep < keepMin || o.every <= 0 {
		return fmt.Errorf("-keep must be at least %s, and -every more than 0", keepMin)
	}
	if o.healthy {
		return check(o)
	}
	if err := quiet(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if o.once {
		return round(ctx, o)
	}
	for ctx.Err() == nil {
		pause := o.every
		if err := round(ctx, o); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "tikv-gc: it is tried again:", err)
			pause = min(o.every, 15*time.Second)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// round does all of it with a connection of its own: one that saw its driver die stays dead.
func round(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, max(o.every, time.Minute))
	defer cancel()
	store, err := connect(strings.Split(o.drivers, ","))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	now, err := store.CurrentTimestamp(oracle.GlobalTxnScope)
	if err != nil {
		return err
	}
	wanted := oracle.GoTimeToTS(oracle.GetTimeFromTS(now).Add(-o.keep))
	point, err := lowered(ctx, store, wanted)
	if err != nil {
		return err
	}
	reached, err := store.GC(ctx, point)
	if err != nil {
		return err
	}
	fmt.Printf("Versions before %s may go (wanted: %s).\n", told(reached), told(wanted))
	return os.WriteFile(o.beat, []byte(told(reached)), 0o600)
}

// quiet keeps the client's own log to what is wrong, and its few calls single.
func quiet() error {
	logger, properties, err := log.InitLogger(&log.Config{Level: "warn"})
	if err != nil {
		return err
	}
	log.ReplaceGlobals(logger, properties)
	config.UpdateGlobal(func(c *config.Config) { c.TiKVClient.MaxBatchSize = 0 })
	return nil
}

func connect(drivers []string) (*tikv.KVStore, error) {
	driver, err := tikv.NewPDClient(drivers)
	if err != nil {
		return nil, err
	}
	calls := tikv.NewRPCClient(tikv.WithSecurity(config.GetGlobalConfig().Security))
	// Only readers need to know the point of others, from etcd; this one reads nothing but locks.
	return tikv.NewKVStore("tikv-gc", driver, tikv.NewMockSafePointKV(), calls)
}

// lowered returns the newest point that nobody else forbids: a backup keeps its own.
func lowered(ctx context.Context, store *tikv.KVStore, wanted uint64) (uint64, error) {
	least, err := store.GetPDClient().UpdateServiceGCSafePoint(ctx, service, math.MaxInt64, wanted)
	if err != nil {
		if strings.Contains(err.Error(), "Unimplemented") { // a stand-in that knows no services
			return wanted, nil
		}
		return 0, err
	}
	return min(least, wanted), nil
}

func check(o options) error {
	beat, err := os.Stat(o.beat)
	if err != nil {
		return errors.New("no round has succeeded yet")
	}
	if age := time.Since(beat.ModTime()); age > roundsMax*o.every {
		return fmt.Errorf("no round has succeeded for %s", age.Round(time.Second))
	}
	return nil
}

func told(point uint64) string {
	return oracle.GetTimeFromTS(point).UTC().Format(time.RFC3339)
}
