#ifndef HONE_BENCH_FAULTS_HOSTILE_MESSAGE_H_
#define HONE_BENCH_FAULTS_HOSTILE_MESSAGE_H_

#include <string>

#include <google/protobuf/descriptor.h>

#include "base/rng.h"

namespace hone::bench {

// Returns the bytes of a message of that type as no decent client sends it:
// empty, with fields at the ends of their ranges, long and broken strings,
// names of things that are not there, contradictory parts, far too many
// elements; now and then no message at all.
std::string HostileMessage(const google::protobuf::Descriptor& type, Rng& rng);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_HOSTILE_MESSAGE_H_
