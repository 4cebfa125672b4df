#ifndef HONE_GRAPHS_BLOCK_SET_H_
#define HONE_GRAPHS_BLOCK_SET_H_

#include <cstdint>
#include <vector>

#include "graphs/block_graph.h"
#include "graphs/device_graph.h"

namespace hone::graphs {

// A set of blocks as one device would hold it, with its load. Blocks are added
// and removed like the elements of a stack, in time linear in the transfers of
// the block. Keeps references to both arguments.
class BlockSet {
 public:
  BlockSet(const BlockGraph& graph, const DeviceLimits& limits);

  void Push(uint32_t block);
  void Pop();

  // The time on an accelerator without transfers, infinity if the set does not
  // fit. Does not fall as blocks are added, unlike the load.
  double accelerator_latency() const;
  // The load of an accelerator, infinity if the set does not fit.
  double accelerator_load() const {
    return accelerator_latency() + totals_.transfer;
  }
  // The load of a CPU core, infinity if there is none.
  double cpu_load() const;

 private:
  struct Totals {
    double accelerator_latency = 0;
    double cpu_latency = 0;
    double size_bytes = 0;
    double transfer = 0;
    bool supported = true;
  };

  // Returns true if a device with the set pays for the transfer.
  bool IsCut(uint32_t transfer) const;

  const BlockGraph& graph_;
  const DeviceLimits& limits_;
  Adjacency touching_;        // block -> transfers that it is an end of
  std::vector<bool> inside_;  // [blocks]
  std::vector<uint32_t> targets_inside_;  // [transfers]
  Totals totals_;
  struct Entry {
    uint32_t block;
    Totals before;
  };
  std::vector<Entry> stack_;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_BLOCK_SET_H_
