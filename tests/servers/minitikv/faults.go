package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	pb "github.com/pingcap/kvproto/pkg/kvrpcpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// faults are what a test has the server do wrong, each until a moment.
type faults struct {
	mu        sync.Mutex
	conflicts time.Time
	pause     time.Time
}

func (f *faults) set(moment *time.Time, seconds float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*moment = time.Now().Add(time.Duration(seconds * float64(time.Second)))
}

func (f *faults) lasts(moment *time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(*moment)
}

// wait returns when nothing is paused any more, or with an error when the caller has gone.
func (f *faults) wait(ctx context.Context) error {
	for f.lasts(&f.pause) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// intercept holds a request, and its answer, for as long as nothing is answered; and it turns a
// panic of the mock ("key not in region") into an error of that request.
func (f *faults) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (resp any, err error) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "minitikv: %s: panic: %v\n", info.FullMethod, r)
			err = status.Errorf(codes.Internal, "%s: %v", info.FullMethod, r)
		}
	}()
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	resp, err = handle(ctx, req)
	if gone := f.wait(ctx); gone != nil {
		return nil, gone
	}
	return resp, err
}

// conflict is the answer to a first phase of a commit that lost against another transaction.
func conflict(r *pb.PrewriteRequest, now uint64) *pb.PrewriteResponse {
	lost := &pb.WriteConflict{
		StartTs:          r.StartVersion,
		ConflictTs:       r.StartVersion + 1,
		ConflictCommitTs: now,
		Primary:          r.PrimaryLock,
		Reason:           pb.WriteConflict_Optimistic,
	}
	if len(r.Mutations) > 0 {
		lost.Key = r.Mutations[0].Key
	}
	return &pb.PrewriteResponse{Errors: []*pb.KeyError{{Conflict: lost}}}
}
