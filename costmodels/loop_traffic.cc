#include "costmodels/loop_traffic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "base/mix_bits.h"
#include "hlo/ir/element_type.h"

namespace hone::costmodels {
namespace {

// Sums of the lines that accesses touch within a level, by buffer; accesses of
// one buffer that move alike touch about the same lines.
class LineSums {
 public:
  void Add(int32_t level, loops::BufferId buffer, uint64_t motion,
           double bytes) {
    double& most = sums_[{level, buffer, motion}];
    most = std::max(most, bytes);
  }

  // Adds the sums of each level to `set`, with at most `most(buffer)` bytes of
  // a buffer.
  template <typename Most, typename Set>
  void AddTo(const Most& most, const Set& set) const {
    absl::flat_hash_map<std::pair<int32_t, loops::BufferId>, double> buffers;
    for (const auto& [key, bytes] : sums_) {
      buffers[{std::get<0>(key), std::get<1>(key)}] += bytes;
    }
    // In order, so that sums of doubles are the same everywhere.
    std::vector<std::pair<std::pair<int32_t, loops::BufferId>, double>> sorted(
        buffers.begin(), buffers.end());
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [key, bytes] : sorted) {
      set(key.first, std::min(bytes, most(key.second)));
    }
  }

 private:
  absl::flat_hash_map<std::tuple<int32_t, loops::BufferId, uint64_t>, double>
      sums_;
};

class TrafficCounter {
 public:
  TrafficCounter(const loops::Program& program, const loops::Machine& machine,
                 const std::vector<PlacedAccess>& placed, LoopWork& work)
      : program_(program),
        machine_(machine),
        placed_(placed),
        work_(work),
        line_(static_cast<double>(
            std::max<int64_t>(machine.cache_line_bytes, 1))) {}

  void Count() {
    CountSets();
    CountBroughtLines();
  }

 private:
  // Bytes of the lines that an access touches in the loops from `position` on.
  double BytesFrom(size_t access, size_t position) const {
    const PlacedAccess& placed = placed_[access];
    const AccessWork& done = work_.accesses[access];
    absl::InlinedVector<StridedLoop, 8> inside;
    double iterations = 1;
    for (size_t i = position; i < placed.path.size(); ++i) {
      if (i == 0) continue;
      iterations *= work_.levels[static_cast<size_t>(placed.path[i])].trips;
    }
    for (const PlacedAccess::Moved& moved : placed.moved) {
      if (moved.position >= position) inside.push_back(moved.loop);
    }
    std::sort(inside.begin(), inside.end(),
              [](const auto& a, const auto& b) { return a.stride < b.stride; });
    double lines = DistinctLines(inside, done.element_bytes, line_);
    // Elements anywhere: a line each, as far as there are so many.
    if (done.data_dependent) lines = std::max(lines, iterations);
    return std::min(
        lines * line_,
        std::ceil(BufferBytes(program_.buffer(done.buffer)) / line_) * line_);
  }

  // Tells apart ways to move, so that accesses of one buffer that touch about
  // the same lines count once.
  uint64_t MotionFrom(size_t access, size_t position) const {
    absl::InlinedVector<std::pair<double, double>, 8> loops;
    for (const PlacedAccess::Moved& moved : placed_[access].moved) {
      if (moved.position >= position && moved.loop.trips > 1) {
        loops.emplace_back(moved.loop.stride, moved.loop.trips);
      }
    }
    std::sort(loops.begin(), loops.end());
    uint64_t motion = 0;
    for (const auto& [stride, trips] : loops) {
      motion = MixBits(motion ^ std::bit_cast<uint64_t>(stride));
      motion = MixBits(motion ^ std::bit_cast<uint64_t>(trips));
    }
    return motion;
  }

  void CountSets() {
    LineSums whole;
    LineSums iteration;
    for (size_t a = 0; a < work_.accesses.size(); ++a) {
      const PlacedAccess& placed = placed_[a];
      AccessWork& done = work_.accesses[a];
      done.footprint = BytesFrom(a, 0);
      bytes_from_.emplace_back();
      double bytes = done.footprint;
      uint64_t motion = MotionFrom(a, 0);
      for (size_t i = 0; i < placed.path.size(); ++i) {
        const double inside = BytesFrom(a, i + 1);
        const uint64_t inside_motion = MotionFrom(a, i + 1);
        bytes_from_.back().push_back(bytes);
        if (done.form != AccessForm::kRegister) {
          whole.Add(placed.path[i], done.buffer, motion, bytes);
          iteration.Add(placed.path[i], done.buffer, inside_motion, inside);
        }
        bytes = inside;
        motion = inside_motion;
      }
    }
    const auto most = [&](loops::BufferId buffer) {
      return std::ceil(BufferBytes(program_.buffer(buffer)) / line_) * line_;
    };
    whole.AddTo(most, [&](int32_t level, double bytes) {
      work_.levels[static_cast<size_t>(level)].working_set += bytes;
    });
    iteration.AddTo(most, [&](int32_t level, double bytes) {
      work_.levels[static_cast<size_t>(level)].iteration_set += bytes;
    });
    work_.levels[0].iteration_set = work_.levels[0].working_set;
  }

  // A line stays in a cache from one iteration of a loop to the next if the
  // cache holds what an iteration touches: then all iterations together bring
  // each line in once, for the first of the accesses that move alike.
  void CountBroughtLines() {
    for (AccessWork& done : work_.accesses) {
      if (done.non_temporal) {
        done.traffic.back() = done.elements * done.element_bytes;
      }
    }
    const PerCache sizes = CacheBytes(machine_);
    // Level, buffer, motion, store.
    absl::flat_hash_set<std::tuple<int32_t, loops::BufferId, uint64_t, bool>>
        brought;
    for (size_t cache = 0; cache < kCacheCount; ++cache) {
      // What the call before left there.
      if (work_.levels[0].working_set <= sizes[cache]) continue;
      brought.clear();
      for (size_t a = 0; a < work_.accesses.size(); ++a) {
        AccessWork& done = work_.accesses[a];
        if (done.form == AccessForm::kRegister || done.non_temporal) continue;
        const auto& path = placed_[a].path;
        size_t i = 1;
        while (i < path.size() &&
               work_.levels[static_cast<size_t>(path[i])].iteration_set >
                   sizes[cache]) {
          ++i;
        }
        if (i >= path.size()) {
          const LoopLevel& level =
              work_.levels[static_cast<size_t>(path.back())];
          done.traffic[cache] =
              level.entries * level.trips * std::max(line_, done.element_bytes);
        } else if (brought
                       .insert({path[i], done.buffer, MotionFrom(a, i),
                                done.is_store})
                       .second) {
          done.traffic[cache] =
              work_.levels[static_cast<size_t>(path[i])].entries *
              bytes_from_[a][i];
        }
      }
    }
  }

  const loops::Program& program_;
  const loops::Machine& machine_;
  const std::vector<PlacedAccess>& placed_;
  LoopWork& work_;
  const double line_;
  // By access and position on its path: BytesFrom.
  std::vector<absl::InlinedVector<double, 12>> bytes_from_;
};

}  // namespace

double BufferBytes(const loops::Buffer& buffer) {
  double elements = 1;
  for (size_t d = 0; d < buffer.dimensions.size(); ++d) {
    elements += static_cast<double>(buffer.strides[d]) *
                static_cast<double>(buffer.dimensions[d] - 1);
  }
  return std::max(0.0, elements) *
         static_cast<double>(hlo::ByteWidth(buffer.type));
}

void CountTraffic(const loops::Program& program, const loops::Machine& machine,
                  const std::vector<PlacedAccess>& placed, LoopWork& work) {
  TrafficCounter(program, machine, placed, work).Count();
}

}  // namespace hone::costmodels
