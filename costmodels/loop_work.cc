#include "costmodels/loop_work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "base/mix_bits.h"
#include "costmodels/loop_footprint.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/code_limits.h"
#include "loops/ir/operation_types.h"
#include "loops/ir/rewrite.h"

namespace hone::costmodels {
namespace {

using loops::Expression;
using loops::LoopMode;

// Iterations of an outer loop at which a bound is evaluated; more are sampled
// evenly.
constexpr int64_t kBoundSamples = 64;

bool IsRepeatedInCode(const loops::Loop& loop) {
  return loop.mode == LoopMode::kUnrolled || loop.mode == LoopMode::kVector;
}

OperationKind KindOf(const Expression& apply) {
  using hlo::Opcode;
  switch (apply.opcode()) {
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
      return OperationKind::kConvert;
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kCbrt:
      return OperationKind::kDivide;
    default:
      break;
  }
  if (hlo::IsTranscendental(apply.opcode())) {
    return OperationKind::kTranscendental;
  }
  const hlo::ElementType type = apply.operands().empty()
                                    ? apply.type()
                                    : apply.operands().front()->type();
  return hlo::IsFloat(type) ? OperationKind::kFloat : OperationKind::kInteger;
}

// An access while loops are entered and left.
struct Placed {
  // Loops around it that move it, outermost first: their positions on its path,
  // and how.
  struct Moved {
    size_t position = 0;
    StridedLoop loop;
  };
  absl::InlinedVector<Moved, 8> moved;
  // Levels around it, the kernel first.
  absl::InlinedVector<int32_t, 12> path;
};

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

class Counter {
 public:
  Counter(const loops::Program& program, const loops::Machine& machine)
      : program_(program),
        machine_(machine),
        line_(static_cast<double>(
            std::max<int64_t>(machine.cache_line_bytes, 1))),
        vector_bytes_(
            static_cast<double>(std::max<int64_t>(machine.vector_bytes, 1))) {}

  LoopWork Count() {
    work_.levels.push_back({});
    path_.push_back(0);
    AddLocals(program_.locals());
    AddBody(program_.body());
    CountSets();
    CountTraffic();
    return std::move(work_);
  }

 private:
  double BufferBytes(loops::BufferId id) const {
    const loops::Buffer& buffer = program_.buffer(id);
    double elements = 1;
    for (size_t d = 0; d < buffer.dimensions.size(); ++d) {
      elements += static_cast<double>(buffer.strides[d]) *
                  static_cast<double>(buffer.dimensions[d] - 1);
    }
    return std::max(0.0, elements) *
           static_cast<double>(hlo::ByteWidth(buffer.type));
  }

  void AddLocals(const std::vector<loops::BufferId>& locals) {
    for (const loops::BufferId id : locals) {
      declared_[id] = path_.size() - 1;
      const loops::Memory memory = program_.buffer(id).memory;
      const double bytes = BufferBytes(id);
      work_.local_bytes[static_cast<size_t>(memory) -
                        static_cast<size_t>(loops::Memory::kHeap)] += bytes;
      if (memory == loops::Memory::kRegister) {
        registers_ += std::ceil(bytes / vector_bytes_);
      }
    }
    work_.registers = std::max(work_.registers, registers_);
  }

  void AddBody(const std::vector<loops::Node>& body) {
    for (const loops::Node& node : body) {
      if (node.loop() != nullptr) {
        AddLoop(*node.loop());
      } else {
        AddStatement(*node.statement());
      }
    }
  }

  void AddLoop(const loops::Loop& loop) {
    const auto index = static_cast<int32_t>(work_.levels.size());
    LoopLevel level;
    level.parent = path_.back();
    level.loop = &loop;
    level.trips = Trips(loop);
    const LoopLevel& parent = work_.levels[static_cast<size_t>(level.parent)];
    level.entries = parent.entries * parent.trips;
    if (!IsRepeatedInCode(loop)) {
      work_.branches += level.entries * level.trips;
      work_.code_instructions += 2;
    }
    if (loop.mode == LoopMode::kParallel && level.trips > 0) {
      const double threads = std::max(1, machine_.threads);
      work_.thread_share = std::min(
          work_.thread_share, std::ceil(level.trips / threads) / level.trips);
    }
    work_.levels.push_back(level);
    path_.push_back(index);
    const double registers = registers_;
    AddLocals(loop.locals);
    AddBody(loop.body);
    registers_ = registers;
    path_.pop_back();
  }

  // Iterations each time, on the average.
  double Trips(const loops::Loop& loop) const {
    const auto extent = static_cast<double>(std::max<int64_t>(loop.extent, 0));
    if (!loop.bound.has_value()) return extent;
    // One variable at a time takes its values, others are in their middle.
    double constant = static_cast<double>(loop.bound->constant());
    const loops::Affine::Term* varied = nullptr;
    const LoopLevel* varied_level = nullptr;
    for (const loops::Affine::Term& term : loop.bound->terms()) {
      const LoopLevel* level = LevelOf(term.var);
      if (level == nullptr) continue;
      const double coefficient = static_cast<double>(term.coefficient);
      // Of several, the one that changes the bound most.
      if (varied == nullptr ||
          std::abs(coefficient) * (level->trips - 1) >
              std::abs(static_cast<double>(varied->coefficient)) *
                  (varied_level->trips - 1)) {
        if (varied != nullptr) {
          constant += static_cast<double>(varied->coefficient) *
                      (varied_level->trips - 1) / 2;
        }
        varied = &term;
        varied_level = level;
      } else {
        constant += coefficient * (level->trips - 1) / 2;
      }
    }
    if (varied == nullptr) return std::clamp(constant, 0.0, extent);
    const double steps = std::max(1.0, std::floor(varied_level->trips));
    const auto samples = static_cast<int64_t>(
        std::min(steps, static_cast<double>(kBoundSamples)));
    double sum = 0;
    for (int64_t i = 0; i < samples; ++i) {
      // The last one is always among them: there is the rest of a split.
      const double value =
          samples == 1 ? 0
                       : std::floor(static_cast<double>(i) * (steps - 1) /
                                    static_cast<double>(samples - 1));
      const double bound =
          constant + static_cast<double>(varied->coefficient) * value;
      // The ends stand for themselves, the others for those around them.
      const double weight =
          steps <= static_cast<double>(kBoundSamples) || i == 0 ||
                  i + 1 == samples
              ? 1
              : (steps - 2) / static_cast<double>(samples - 2);
      sum += weight * std::clamp(bound, 0.0, extent);
    }
    return sum / steps;
  }

  const LoopLevel* LevelOf(loops::VarId var) const {
    for (size_t i = path_.size(); i-- > 1;) {
      const LoopLevel& level = work_.levels[static_cast<size_t>(path_[i])];
      if (level.loop->var == var) return &level;
    }
    return nullptr;
  }
  const LoopLevel& LevelAt(size_t position) const {
    return work_.levels[static_cast<size_t>(path_[position])];
  }

  void AddStatement(const loops::Statement& statement) {
    StatementWork done;
    done.level = path_.back();
    const LoopLevel& inner = LevelAt(path_.size() - 1);
    done.executions = inner.entries * inner.trips;
    for (size_t i = 1; i < path_.size(); ++i) {
      const LoopLevel& level = LevelAt(i);
      if (level.loop->mode == LoopMode::kVector) {
        done.lanes =
            std::max<double>(1, static_cast<double>(level.loop->extent));
      } else if (level.loop->mode == LoopMode::kUnrolled) {
        done.copies *= std::max(1.0, level.trips);
      }
    }
    loops_of_.clear();
    operations_.clear();
    CountOperations(*statement.value, done);
    if (statement.predicate != nullptr) {
      CountOperations(*statement.predicate, done);
    }
    done.is_reduction = statement.combine.has_value();
    done.is_predicated = statement.predicate != nullptr;
    done.non_temporal = statement.non_temporal;
    done.is_copy = !done.is_reduction &&
                   statement.value->kind() == Expression::Kind::kLoad;
    const hlo::ElementType type = program_.buffer(statement.target.buffer).type;
    done.element_bytes =
        std::max(widest_, static_cast<double>(hlo::ByteWidth(type)));
    widest_ = 0;
    constexpr uint64_t kAllLoops = ~uint64_t{0};
    if (IsDot(statement)) {
      done.is_dot = true;
      done.operations = {1, 0, 0, 0, 0};
      operations_ = {{OperationKind::kFloat, kAllLoops}};
      CountChains(statement.target, done);
    } else if (done.is_reduction) {
      // The addition of a product to a sum is part of the multiplication.
      const bool fused = *statement.combine == hlo::Opcode::kAdd &&
                         hlo::IsFloat(type) &&
                         statement.value->kind() == Expression::Kind::kApply &&
                         statement.value->opcode() == hlo::Opcode::kMultiply;
      const auto kind =
          hlo::IsFloat(type) ? OperationKind::kFloat : OperationKind::kInteger;
      if (fused) {
        // The last one, after its operands.
        operations_.back().second = kAllLoops;
      } else {
        done.operations[static_cast<size_t>(kind)] += 1;
        operations_.emplace_back(kind, kAllLoops);
      }
      CountChains(statement.target, done);
    }
    const double vectors = std::max(
        1.0, std::ceil(done.lanes * done.element_bytes / vector_bytes_));
    double in_code = 1;
    for (const auto& [kind, used] : operations_) {
      done.instructions[static_cast<size_t>(kind)] +=
          Instructions(used, vectors);
      in_code += vectors * (kind == OperationKind::kTranscendental ? 15 : 1);
    }
    done.first_access = work_.accesses.size();
    loops::VisitAccesses(statement,
                         [&](const loops::Access& access, bool is_target) {
                           AddAccess(access, is_target, done);
                         });
    done.access_count = work_.accesses.size() - done.first_access;
    work_.code_instructions +=
        done.copies * (in_code + static_cast<double>(done.access_count));
    work_.statements.push_back(done);
  }

  // Returns true for a sum of products of converted narrow elements that an
  // instruction of the machine computes.
  bool IsDot(const loops::Statement& statement) const {
    if (statement.combine != hlo::Opcode::kAdd) return false;
    const hlo::ElementType sum = statement.value->type();
    const bool is_float = sum == hlo::ElementType::kF32;
    if (!(is_float
              ? machine_.has_bf16_dot
              : sum == hlo::ElementType::kS32 && machine_.has_integer_dot)) {
      return false;
    }
    int products = 0;
    const std::function<bool(const Expression&)> is_sum =
        [&](const Expression& e) {
          if (e.kind() != Expression::Kind::kApply) return false;
          if (e.opcode() == hlo::Opcode::kAdd) {
            return is_sum(*e.operands()[0]) && is_sum(*e.operands()[1]);
          }
          if (e.opcode() != hlo::Opcode::kMultiply) return false;
          ++products;
          return std::all_of(e.operands().begin(), e.operands().end(),
                             [&](const loops::ExpressionPtr& factor) {
                               if (factor->kind() != Expression::Kind::kApply ||
                                   factor->opcode() != hlo::Opcode::kConvert) {
                                 return false;
                               }
                               const hlo::ElementType type =
                                   factor->operands()[0]->type();
                               return is_float ? type == hlo::ElementType::kBf16
                                               : hlo::ByteWidth(type) <= 2;
                             });
        };
    return is_sum(*statement.value) && products > 1;
  }

  // Counts the operations of an expression; those that are shared once. Returns
  // the loops around it that its value depends on, as a set of positions on the
  // path.
  uint64_t CountOperations(const Expression& e, StatementWork& done) {
    const auto [it, is_new] = loops_of_.try_emplace(&e, 0);
    if (!is_new) return it->second;
    uint64_t used = 0;
    if (e.kind() == Expression::Kind::kIndex) used |= LoopsIn(e.index());
    if (e.kind() == Expression::Kind::kWhere) {
      done.conditions += static_cast<double>(e.ranges().size());
      for (const loops::Range& range : e.ranges()) {
        used |= LoopsIn(range.value);
      }
    }
    if (e.kind() == Expression::Kind::kLoad) {
      for (const loops::Index& index : e.access().indices) {
        used |= LoopsIn(index.affine);
        if (index.offset != nullptr) {
          used |= CountOperations(*index.offset, done);
        }
      }
    }
    for (const loops::ExpressionPtr& operand : e.operands()) {
      used |= CountOperations(*operand, done);
    }
    if (e.kind() == Expression::Kind::kApply) {
      const OperationKind kind = KindOf(e);
      done.operations[static_cast<size_t>(kind)] += 1;
      operations_.emplace_back(kind, used);
      widest_ =
          std::max(widest_, static_cast<double>(hlo::ByteWidth(e.type())));
    }
    loops_of_[&e] = used;
    return used;
  }

  static uint64_t Position(size_t position) {
    return uint64_t{1} << std::min<size_t>(position, 63);
  }
  uint64_t LoopsIn(const loops::Affine& affine) const {
    uint64_t used = 0;
    for (size_t i = 1; i < path_.size(); ++i) {
      if (affine.Uses(LevelAt(i).loop->var)) used |= Position(i);
    }
    return used;
  }

  // Returns the instructions of an operation whose value depends on these
  // loops. Compilers compute it outside of the innermost loops that leave it as
  // it is, and once for all unrolled copies and lanes that share it.
  double Instructions(uint64_t used, double vectors) const {
    double instructions = 1;
    for (size_t i = 1; i < path_.size(); ++i) {
      const LoopLevel& level = LevelAt(i);
      const bool is_used = (used & Position(i)) != 0;
      if (level.loop->mode == LoopMode::kVector) {
        if (is_used) instructions *= vectors;
      } else if (level.loop->mode == LoopMode::kUnrolled) {
        if (is_used) instructions *= level.trips;
      } else if (used >= Position(i)) {
        instructions *= level.trips;
      }
    }
    return instructions;
  }

  // Bytes from one iteration of the loop at `position` to the next.
  double StrideOf(const loops::Access& access, size_t position) const {
    const loops::Buffer& buffer = program_.buffer(access.buffer);
    const loops::VarId var = LevelAt(position).loop->var;
    const bool is_flat = access.indices.size() != buffer.strides.size();
    double stride = 0;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      const int64_t coefficient = access.indices[d].affine.coefficient(var);
      if (coefficient == 0) continue;
      stride += static_cast<double>(coefficient) *
                (is_flat ? 1.0 : static_cast<double>(buffer.strides[d]));
    }
    return std::abs(stride) * static_cast<double>(hlo::ByteWidth(buffer.type));
  }

  void CountChains(const loops::Access& target, StatementWork& done) {
    // The innermost loop that is a loop in the code and leaves the target where
    // it is; results between it and the statement are summed up side by side.
    double side_by_side = 1;
    double results = 1;
    double length = 1;
    bool found = false;
    // A local begins anew in each iteration of the loop that declares it.
    const auto declared = declared_.find(target.buffer);
    const size_t end = declared != declared_.end() ? declared->second : 0;
    for (size_t i = path_.size(); i-- > end + 1;) {
      const LoopLevel& level = LevelAt(i);
      const bool moves = StrideOf(target, i) > 0;
      if (found) {
        if (moves) break;
        length *= level.trips;
        continue;
      }
      if (level.loop->mode == LoopMode::kVector) {
        // Lanes of a sum are added up in the end.
        side_by_side *= std::max(
            1.0, std::ceil(done.lanes * done.element_bytes / vector_bytes_));
      } else if (level.loop->mode == LoopMode::kUnrolled) {
        if (moves) {
          side_by_side *= std::max(1.0, level.trips);
          results *= std::max(1.0, level.trips);
        } else {
          length *= std::max(1.0, level.trips);
        }
      } else if (!moves) {
        length *= level.trips;
        found = true;
      } else {
        break;
      }
    }
    done.chains = side_by_side;
    done.chain_length = length;
    // The code generator keeps so many results of one statement.
    done.is_kept =
        program_.buffer(target.buffer).memory == loops::Memory::kRegister ||
        results <= static_cast<double>(loops::kMostPartialResults);
    if (done.lanes > 1 && StrideOf(target, path_.size() - 1) == 0) {
      done.lane_sums = done.executions / done.lanes /
                       (done.is_kept ? std::max(length, 1.0) : 1.0);
    }
    if (length > 1 && done.is_kept)
      work_.registers = std::max(work_.registers, side_by_side);
  }

  void AddAccess(const loops::Access& access, bool is_target,
                 const StatementWork& statement) {
    const loops::Buffer& buffer = program_.buffer(access.buffer);
    AccessWork done;
    done.buffer = access.buffer;
    done.is_store = is_target;
    done.element_bytes = static_cast<double>(hlo::ByteWidth(buffer.type));
    done.elements = statement.executions;
    for (const loops::Index& index : access.indices) {
      if (index.offset != nullptr) done.data_dependent = true;
    }
    Placed placed;
    placed.path.assign(path_.begin(), path_.end());
    double instructions = 1;
    // Within loops that leave it where it is, it is done once.
    bool is_fixed = !done.data_dependent && (!is_target || statement.is_kept);
    bool is_innermost = true;
    for (size_t i = path_.size(); i-- > 1;) {
      const LoopLevel& level = LevelAt(i);
      const double stride = StrideOf(access, i);
      if (stride > 0) placed.moved.push_back({i, {stride, level.trips}});
      switch (level.loop->mode) {
        case LoopMode::kVector:
          done.lane_stride = stride;
          break;
        case LoopMode::kUnrolled:
          // Copies that load the same share the value.
          if (stride > 0 || done.data_dependent) instructions *= level.trips;
          break;
        default:
          if (is_innermost) done.innermost_stride = stride;
          is_innermost = false;
          is_fixed = is_fixed && stride == 0;
          if (!is_fixed) instructions *= level.trips;
      }
    }
    std::reverse(placed.moved.begin(), placed.moved.end());
    const double vectors = std::max(
        1.0, std::ceil(statement.lanes * done.element_bytes / vector_bytes_));
    // Dots read adjacent narrow elements as if they were one.
    const bool is_adjacent =
        done.lane_stride == done.element_bytes ||
        (statement.is_dot && done.lane_stride <= 4 * done.element_bytes);
    if (buffer.memory == loops::Memory::kRegister) {
      done.form = AccessForm::kRegister;
      instructions = 0;
    } else if (statement.lanes <= 1) {
      done.form = AccessForm::kScalar;
    } else if (done.lane_stride == 0 && !done.data_dependent) {
      done.form = AccessForm::kBroadcast;
    } else if (is_adjacent) {
      done.form = AccessForm::kContiguous;
      instructions *= vectors;
    } else {
      done.form = AccessForm::kScattered;
      instructions *= statement.lanes;
    }
    done.instructions = instructions;
    work_.accesses.push_back(done);
    placed_.push_back(std::move(placed));
  }

  // Bytes of the lines that an access touches in the loops from `position` on.
  double BytesFrom(size_t access, size_t position) const {
    const Placed& placed = placed_[access];
    const AccessWork& done = work_.accesses[access];
    absl::InlinedVector<StridedLoop, 8> inside;
    double iterations = 1;
    for (size_t i = position; i < placed.path.size(); ++i) {
      if (i == 0) continue;
      iterations *= work_.levels[static_cast<size_t>(placed.path[i])].trips;
    }
    for (const Placed::Moved& moved : placed.moved) {
      if (moved.position >= position) inside.push_back(moved.loop);
    }
    std::sort(inside.begin(), inside.end(),
              [](const auto& a, const auto& b) { return a.stride < b.stride; });
    double lines = DistinctLines(inside, done.element_bytes, line_);
    // Elements anywhere: a line each, as far as there are so many.
    if (done.data_dependent) lines = std::max(lines, iterations);
    return std::min(lines * line_,
                    std::ceil(BufferBytes(done.buffer) / line_) * line_);
  }

  // Tells apart ways to move, so that accesses of one buffer that touch about
  // the same lines count once.
  uint64_t MotionFrom(size_t access, size_t position) const {
    absl::InlinedVector<std::pair<double, double>, 8> loops;
    for (const Placed::Moved& moved : placed_[access].moved) {
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
      const Placed& placed = placed_[a];
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
      return std::ceil(BufferBytes(buffer) / line_) * line_;
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
  void CountTraffic() {
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
        if (done.form == AccessForm::kRegister) continue;
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
  const double line_;
  const double vector_bytes_;
  LoopWork work_;
  // The levels around the current place, the kernel first.
  std::vector<int32_t> path_;
  double registers_ = 0;
  // Locals: the position on the path of the loop that declares them.
  absl::flat_hash_map<loops::BufferId, size_t> declared_;
  // Of the current statement: the loops that values depend on, the operations
  // with theirs, and the widest element of these.
  absl::flat_hash_map<const Expression*, uint64_t> loops_of_;
  std::vector<std::pair<OperationKind, uint64_t>> operations_;
  double widest_ = 0;
  // By access.
  std::vector<Placed> placed_;
  // By access and position on its path: BytesFrom.
  std::vector<absl::InlinedVector<double, 12>> bytes_from_;
};

}  // namespace

PerCache CacheBytes(const loops::Machine& machine) {
  const auto l1 = static_cast<double>(std::max<int64_t>(machine.l1_bytes, 1));
  const double l2 = std::max(l1, static_cast<double>(machine.l2_bytes));
  return {l1, l2, std::max(l2, static_cast<double>(machine.l3_bytes))};
}

LoopWork CountLoopWork(const loops::Program& program,
                       const loops::Machine& machine) {
  return Counter(program, machine).Count();
}

}  // namespace hone::costmodels
