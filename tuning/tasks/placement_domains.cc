#include "tuning/tasks/placement_domains.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "graphs/max_load.h"

namespace hone::tuning {
namespace {

// Sets of devices by their places in the pipeline, for each block.
class PlacementDomains final : public space::Domains {
 public:
  PlacementDomains(const graphs::DeviceGraph& graph,
                   std::shared_ptr<const PlacementRules> rules)
      : graph_(graph),
        rules_(std::move(rules)),
        place_of_(static_cast<size_t>(graph.device_count())),
        bytes_(place_of_.size()),
        left_(rules_->blocks.blocks.size(),
              space::AllValues(graph.device_count())) {
    device_at_ = rules_->device_order;
    for (int32_t d = 0; device_at_.size() < place_of_.size(); ++d) {
      device_at_.push_back(d);
    }
    for (size_t place = 0; place < device_at_.size(); ++place) {
      place_of_[static_cast<size_t>(device_at_[place])] =
          static_cast<int32_t>(place);
      if (graph.is_accelerator(device_at_[place])) {
        accelerators_ |= uint64_t{1} << place;
      }
    }
    possible_ = true;
    for (size_t b = 0; b < left_.size() && possible_; ++b) {
      const graphs::Block& block = rules_->blocks.blocks[b];
      if (!block.supported_on_accelerator ||
          !graphs::FitsAccelerator(graph.limits(), block.size_bytes)) {
        possible_ = Reduce(static_cast<uint32_t>(b), ~accelerators_);
      }
    }
    if (graph.device_count() == 1) {
      for (const graphs::Block& block : rules_->blocks.blocks) {
        bytes_[0] += block.size_bytes;
      }
    }
    possible_ = possible_ && Propagate();
  }

  int32_t variable_count() const override {
    return static_cast<int32_t>(graph_.size());
  }
  uint64_t Get(int32_t variable) const override {
    return Devices(left_[BlockOf(variable)]);
  }
  bool Narrow(int32_t variable, uint64_t values) override {
    uint64_t places = 0;
    for (size_t d = 0; d < place_of_.size(); ++d) {
      if ((values >> d & 1) != 0) places |= uint64_t{1} << place_of_[d];
    }
    return possible_ && Reduce(BlockOf(variable), places) && Propagate();
  }

  int32_t Mark() override { return static_cast<int32_t>(trail_.size()); }
  void Undo(int32_t mark) override {
    open_.clear();
    while (trail_.size() > static_cast<size_t>(mark)) {
      const Entry& entry = trail_.back();
      if (entry.is_bytes) {
        bytes_[entry.index] = entry.bytes;
      } else {
        left_[entry.index] = entry.left;
      }
      trail_.pop_back();
    }
  }

 private:
  struct Entry {
    uint32_t index;
    bool is_bytes;
    uint64_t left;
    double bytes;
  };

  uint32_t BlockOf(int32_t variable) const {
    return rules_->blocks.block_of[static_cast<size_t>(variable)];
  }
  uint64_t Devices(uint64_t places) const {
    uint64_t devices = 0;
    for (; places != 0; places &= places - 1) {
      devices |= uint64_t{1}
                 << device_at_[static_cast<size_t>(std::countr_zero(places))];
    }
    return devices;
  }

  // Returns false if nothing is left to the block.
  bool Reduce(uint32_t block, uint64_t places) {
    const uint64_t before = left_[block];
    const uint64_t after = before & places;
    if (after == before) return true;
    if (after == 0) return false;
    trail_.push_back({block, false, before, 0});
    left_[block] = after;
    open_.push_back(block);
    if (!std::has_single_bit(after) || (after & accelerators_) == 0) {
      return true;
    }
    const auto place = static_cast<uint32_t>(std::countr_zero(after));
    trail_.push_back({place, true, 0, bytes_[place]});
    bytes_[place] += rules_->blocks.blocks[block].size_bytes;
    return graphs::FitsAccelerator(graph_.limits(), bytes_[place]);
  }

  bool Propagate() {
    const bool ordered = !rules_->device_order.empty();
    while (!open_.empty()) {
      const uint32_t block = open_.back();
      open_.pop_back();
      if (!ordered) continue;
      const uint64_t left = left_[block];
      const uint64_t from = ~uint64_t{0} << std::countr_zero(left);
      for (const uint32_t next : rules_->blocks.order.successors(block)) {
        if (!Reduce(next, from)) return false;
      }
      const uint64_t to = ~uint64_t{0} >> std::countl_zero(left);
      for (const uint32_t before : rules_->blocks.order.predecessors(block)) {
        if (!Reduce(before, to)) return false;
      }
    }
    return true;
  }

  const graphs::DeviceGraph& graph_;
  const std::shared_ptr<const PlacementRules> rules_;
  std::vector<int32_t> device_at_;  // [places]
  std::vector<int32_t> place_of_;   // [devices]
  uint64_t accelerators_ = 0;       // places
  // Of the blocks with no other place left. [places]
  std::vector<double> bytes_;
  std::vector<uint64_t> left_;  // [blocks], places
  std::vector<Entry> trail_;
  std::vector<uint32_t> open_;  // blocks to propagate from
  // False if the constraints cannot be satisfied with the order of devices.
  bool possible_ = true;
};

}  // namespace

std::unique_ptr<space::Domains> MakePlacementDomains(
    const graphs::DeviceGraph& graph,
    std::shared_ptr<const PlacementRules> rules) {
  return std::make_unique<PlacementDomains>(graph, std::move(rules));
}

}  // namespace hone::tuning
