#ifndef HONE_BENCH_FAULTS_DOCUMENTED_STATUS_H_
#define HONE_BENCH_FAULTS_DOCUMENTED_STATUS_H_

#include <grpcpp/grpcpp.h>

namespace hone::bench {

// Returns true for OK, for an error that says why in a form for programs and
// does not blame the daemon, and for what gRPC answers before a handler: to a
// message that cannot be parsed or is too large, after the deadline.
bool IsDocumented(const grpc::Status& status);

// Returns true for what gRPC itself answers, to any caller.
bool IsOfGrpc(const grpc::Status& status);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_DOCUMENTED_STATUS_H_
