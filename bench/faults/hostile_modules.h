#ifndef HONE_BENCH_FAULTS_HOSTILE_MODULES_H_
#define HONE_BENCH_FAULTS_HOSTILE_MODULES_H_

#include <cstdint>
#include <string>

namespace hone::bench {

// The kinds of HostileModule.
int64_t HostileModuleKinds();

struct NamedModule {
  std::string name;
  std::string text;
};

// HLO text that asks for more than a machine has, never ends, has no end of
// nesting, or is broken. Every `n` has another fingerprint; its kind is the
// remainder of `n` by the number of kinds.
NamedModule HostileModule(int64_t n);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_HOSTILE_MODULES_H_
