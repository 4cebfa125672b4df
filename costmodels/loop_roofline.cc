#include "costmodels/loop_roofline.h"

#include <algorithm>
#include <numeric>

namespace hone::costmodels {
namespace {

constexpr absl::string_view kNames[] = {
    "arithmetic", "loads", "stores", "chains", "branches", "l1", "l2", "l3"};
static_assert(std::size(kNames) == kLoopLimits);

// Cycles of an instruction on whole vectors, and on a scalar: two a cycle of
// additions and multiplications.
constexpr double kVectorCycles[kOperationKinds] = {0.5, 0.5, 1, 8, 9};
constexpr double kScalarCycles[kOperationKinds] = {0.5, 0.3, 1, 4, 20};
constexpr double kLoadCycles = 0.5;
constexpr double kStoreCycles = 1;
// Of each lane, and where all lanes are in a few vectors, which are shuffled.
constexpr double kGatherCycles = 0.7;
constexpr double kScatterCycles = 1.3;
constexpr double kShuffleCycles = 0.25;
constexpr double kShuffledBytes = 256;
constexpr double kBranchCycles = 1;
// Of a loop that is begun: its counter, and the branch that is predicted
// wrongly at its end.
constexpr double kEntryCycles = 6;
// From one addition to the next of the same sum.
constexpr double kChainCycles = 4;
// The same through memory.
constexpr double kStoredChainCycles = 9;
// Of the lanes of a vector that are summed up.
constexpr double kLaneSumCycles = 8;
// Registers besides those of sums: what is multiplied.
constexpr double kFurtherRegisters = 2;
// How much longer lines take to come into each cache for copies that read far
// apart: prefetching into L2 follows few streams at once. Of factors 1, 2 and 3
// for each cache, those that choose best among the measured schedules of the
// families that models are trained and validated on.
constexpr double kStreamsFactor[kCacheCount] = {1, 2, 1};
// The part of a time that does not overlap with a longer one.
constexpr double kExposed = 0.15;
// A call, and a parallel loop.
constexpr double kCallNs = 30;
constexpr double kForkNs = 3000;

using Times = std::array<double, kLoopLimits>;

double& At(Times& times, LoopLimit limit) {
  return times[static_cast<size_t>(limit)];
}

double Combined(const Times& times) {
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  const double most = *std::max_element(times.begin(), times.end());
  return most + kExposed * (sum - most);
}

Times TimesOf(const LoopWork& work, const StatementWork& statement,
              const loops::Machine& machine, const LoopRates& rates) {
  Times times = {};
  double cycles = 0;
  const bool is_vector = statement.lanes > 1;
  for (size_t kind = 0; kind < kOperationKinds; ++kind) {
    cycles += statement.instructions[kind] *
              (is_vector ? kVectorCycles : kScalarCycles)[kind];
  }
  cycles += statement.conditions * statement.executions / statement.lanes * 0.5;
  cycles += statement.lane_sums * kLaneSumCycles;
  // Sums that do not fit into registers are loaded and stored at each step.
  const auto registers = static_cast<double>(machine.vector_registers);
  const double needed = statement.is_reduction && statement.chain_length > 1
                            ? statement.chains + kFurtherRegisters
                            : 0;
  const double spilled = needed > registers ? 1 - registers / needed : 0;
  double loads = 0;
  double stores = 0;
  for (size_t a = statement.first_access;
       a < statement.first_access + statement.access_count; ++a) {
    const AccessWork& access = work.accesses[a];
    switch (access.form) {
      case AccessForm::kRegister:
        break;
      case AccessForm::kScattered: {
        const bool shuffled =
            !access.data_dependent && !access.register_scattered &&
            access.lane_stride * statement.lanes <= kShuffledBytes;
        if (!access.is_store || statement.is_reduction) {
          loads +=
              access.instructions *
              (shuffled && !access.is_store ? kShuffleCycles : kGatherCycles);
        }
        if (access.is_store) stores += access.instructions * kScatterCycles;
        break;
      }
      case AccessForm::kTransposed:
        // Shuffles, and about as many of each as of whole vectors.
        (access.is_store ? stores : loads) += access.instructions * kLoadCycles;
        break;
      default:
        // A sum is read before it is written.
        if (!access.is_store || statement.is_reduction) {
          loads += access.instructions * kLoadCycles;
        }
        if (access.is_store) stores += access.instructions * kStoreCycles;
    }
    const bool has_streams = access.streams > 1;
    for (size_t cache = 0; cache < kCacheCount; ++cache) {
      // A line that is stored to is brought in before, and written back.
      const double ways = access.is_store && !access.non_temporal ? 2 : 1;
      times[static_cast<size_t>(LoopLimit::kL1) + cache] +=
          (has_streams ? kStreamsFactor[cache] : 1) * ways *
          access.traffic[cache] / rates.bytes_per_ns[cache];
    }
  }
  if (statement.is_reduction && statement.chains > 0 &&
      statement.chain_length > 1) {
    const double vectors =
        statement.executions / statement.lanes *
        std::max(1.0, statement.lanes * statement.element_bytes /
                          static_cast<double>(machine.vector_bytes));
    loads += spilled * vectors * kLoadCycles;
    stores += spilled * vectors * kStoreCycles;
    At(times, LoopLimit::kChains) =
        vectors / statement.chains *
        (statement.is_kept ? kChainCycles : kStoredChainCycles) /
        rates.cycles_per_ns;
  }
  At(times, LoopLimit::kArithmetic) = cycles / rates.cycles_per_ns;
  At(times, LoopLimit::kLoads) = loads / rates.cycles_per_ns;
  At(times, LoopLimit::kStores) = stores / rates.cycles_per_ns;
  return times;
}

// The loop whose iterations the instructions of a statement share.
int32_t GroupOf(const LoopWork& work, int32_t level) {
  while (level > 0) {
    const loops::LoopMode mode =
        work.levels[static_cast<size_t>(level)].loop->mode;
    if (mode != loops::LoopMode::kUnrolled &&
        mode != loops::LoopMode::kVector) {
      break;
    }
    level = work.levels[static_cast<size_t>(level)].parent;
  }
  return level;
}

}  // namespace

absl::string_view LoopLimitName(LoopLimit limit) {
  return kNames[static_cast<size_t>(limit)];
}

LoopTimes PredictLoopTimes(const LoopWork& work, const loops::Machine& machine,
                           const LoopRates& rates) {
  LoopTimes result;
  // By level.
  std::vector<Times> groups(work.levels.size());
  std::vector<Times> statements;
  statements.reserve(work.statements.size());
  for (const StatementWork& statement : work.statements) {
    statements.push_back(TimesOf(work, statement, machine, rates));
    Times& group = groups[static_cast<size_t>(GroupOf(work, statement.level))];
    for (size_t i = 0; i < kLoopLimits; ++i) group[i] += statements.back()[i];
  }
  bool is_parallel = false;
  for (size_t i = 1; i < work.levels.size(); ++i) {
    const LoopLevel& level = work.levels[i];
    const loops::LoopMode mode = level.loop->mode;
    is_parallel |= mode == loops::LoopMode::kParallel;
    if (mode == loops::LoopMode::kUnrolled ||
        mode == loops::LoopMode::kVector) {
      continue;
    }
    At(groups[i], LoopLimit::kBranches) +=
        level.entries * (level.trips * kBranchCycles + kEntryCycles) /
        rates.cycles_per_ns;
  }
  std::vector<double> group_ns(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    group_ns[i] = Combined(groups[i]);
    result.ns += group_ns[i];
    for (size_t l = 0; l < kLoopLimits; ++l) {
      result.by_limit[l] += groups[i][l];
    }
  }
  for (size_t s = 0; s < statements.size(); ++s) {
    const auto group =
        static_cast<size_t>(GroupOf(work, work.statements[s].level));
    const double all =
        std::accumulate(groups[group].begin(), groups[group].end(), 0.0);
    const double own =
        std::accumulate(statements[s].begin(), statements[s].end(), 0.0);
    result.statement_ns.push_back(all > 0 ? group_ns[group] * own / all : 0);
  }
  result.ns = result.ns * work.thread_share + kCallNs +
              (is_parallel && machine.threads > 1 ? kForkNs : 0);
  return result;
}

}  // namespace hone::costmodels
