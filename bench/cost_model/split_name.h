#ifndef HONE_BENCH_COST_MODEL_SPLIT_NAME_H_
#define HONE_BENCH_COST_MODEL_SPLIT_NAME_H_

#include <string>

namespace hone::bench {

// One of the splits of data that a file holds.
struct SplitName {
  std::string path;
  std::string name;
};

// Parses "FILE:NAME", or a file alone for its split "random". A colon in a
// folder's name is part of the path.
SplitName ParseSplitName(const std::string& split);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_SPLIT_NAME_H_
