#include "costmodels/loop_work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "costmodels/loop_traffic.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/code_limits.h"
#include "loops/ir/dot_products.h"
#include "loops/ir/element_number.h"
#include "loops/ir/operation_types.h"
#include "loops/ir/rewrite.h"
#include "loops/ir/transposed_blocks.h"

namespace hone::costmodels {
namespace {

using loops::Expression;
using loops::LoopMode;

// Iterations of an outer loop at which a bound is evaluated; more are sampled
// evenly.
constexpr int64_t kBoundSamples = 64;
// The least bytes between accesses that are streams of their own.
constexpr double kStreamBytes = 256;
// Shuffles for each vector of a block that is transposed: log2 of its sides.
constexpr double kTransposeShuffles = 4;
// The least lanes of the instructions that sum products.
constexpr int64_t kDotLanes = 4;
constexpr int64_t kDotLaneBytes = 4;

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

class Counter {
 public:
  Counter(const loops::Program& program, const loops::Machine& machine)
      : program_(program),
        machine_(machine),
        vector_bytes_(
            static_cast<double>(std::max<int64_t>(machine.vector_bytes, 1))) {}

  LoopWork Count() {
    work_.levels.push_back({});
    path_.push_back(0);
    AddLocals(program_.locals());
    AddBody(program_.body());
    CountTraffic(program_, machine_, placed_, work_);
    CountLinks();
    return std::move(work_);
  }

 private:
  void AddLocals(const std::vector<loops::BufferId>& locals) {
    for (const loops::BufferId id : locals) {
      declared_[id] = path_.size() - 1;
      const loops::Memory memory = program_.buffer(id).memory;
      const double bytes = BufferBytes(program_.buffer(id));
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
    const Bounded bounded = BoundedTrips(loop);
    level.trips = bounded.trips;
    level.cut_share = bounded.cut_share;
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
    if (loop.mode == LoopMode::kVector) FindTransposed(loop);
    AddBody(loop.body);
    registers_ = registers;
    path_.pop_back();
  }

  // Iterations each time, on the average, and the share of the times that have
  // less than all.
  struct Bounded {
    double trips = 0;
    double cut_share = 0;
  };
  Bounded BoundedTrips(const loops::Loop& loop) const {
    const auto extent = static_cast<double>(std::max<int64_t>(loop.extent, 0));
    if (!loop.bound.has_value()) return {extent, 0};
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
    if (varied == nullptr) {
      return {std::clamp(constant, 0.0, extent), constant < extent ? 1.0 : 0.0};
    }
    const double steps = std::max(1.0, std::floor(varied_level->trips));
    const auto samples = static_cast<int64_t>(
        std::min(steps, static_cast<double>(kBoundSamples)));
    double sum = 0;
    double cut = 0;
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
      if (bound < extent) cut += weight;
    }
    return {sum / steps, cut / steps};
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
        done.masked_share = level.cut_share;
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
    if (done.is_reduction) CountChains(statement.target, done);
    if (IsDot(statement, done)) {
      done.is_dot = true;
      done.operations = {1, 0, 0, 0, 0};
      operations_ = {{OperationKind::kFloat, kAllLoops}};
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

  // Finds the accesses of a vector loop that are transposed.
  void FindTransposed(const loops::Loop& vector) {
    transposed_.clear();
    if (vector.bound.has_value()) return;
    // From the inside out: of loops along which a store is contiguous, the
    // outermost one counts.
    for (size_t i = path_.size() - 1; i-- > 1;) {
      const loops::Loop& loop = *LevelAt(i).loop;
      if (loop.mode != LoopMode::kUnrolled || loop.body.size() != 1 ||
          loop.bound.has_value()) {
        break;
      }
      if (const loops::Statement* statement =
              loops::TransposedStore(program_, loop, vector);
          statement != nullptr) {
        transposed_[&statement->target] = loop.extent;
      }
      if (loop.body[0].loop() != &vector) continue;
      loops::VisitTransposedLoads(program_, loop, vector,
                                  [&](const Expression& load) {
                                    transposed_[&load.access()] = loop.extent;
                                  });
    }
  }

  // Returns true for a sum of products of narrow elements that an instruction
  // of the machine computes.
  bool IsDot(const loops::Statement& statement,
             const StatementWork& done) const {
    if (done.lanes <= 1 || !done.is_reduction) return false;
    const loops::DotProducts dot =
        loops::MatchDotProducts(program_, statement,
                                {.has_bf16 = machine_.has_bf16_dot,
                                 .has_integer = machine_.has_integer_dot});
    if (dot.kind == loops::DotProducts::Kind::kNone) return false;
    const loops::Loop& vector = *LevelAt(path_.size() - 1).loop;
    for (const loops::Access* factor : dot.factors) {
      const int64_t stride =
          loops::NumberOf(program_, *factor)->coefficient(vector.var);
      if (stride != 0 && stride != dot.count()) return false;
    }
    const std::optional<loops::Affine> target =
        loops::NumberOf(program_, statement.target);
    if (!target.has_value()) return false;
    if (target->coefficient(vector.var) == 1) return true;
    // Lanes that are added up in the end, each vector a register.
    return target->coefficient(vector.var) == 0 && done.is_kept &&
           vector.extent >= kDotLanes &&
           vector.extent <= machine_.vector_bytes / kDotLaneBytes &&
           std::has_single_bit(static_cast<uint64_t>(vector.extent));
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
    const double lane_stride =
        done.lanes > 1 ? StrideOf(target, path_.size() - 1) : 0;
    const loops::Buffer& buffer = program_.buffer(target.buffer);
    done.stored_masked =
        lane_stride > 0 &&
        (done.masked_share > 0 ||
         lane_stride != static_cast<double>(hlo::ByteWidth(buffer.type)));
    // The code generator keeps so many results of one statement.
    done.is_kept = !done.stored_masked &&
                   (buffer.memory == loops::Memory::kRegister ||
                    results <= static_cast<double>(loops::kMostPartialResults));
    if (done.lanes > 1 && lane_stride == 0) {
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
    PlacedAccess placed;
    placed.path.assign(path_.begin(), path_.end());
    double instructions = 1;
    // Within loops that leave it where it is, it is done once; a local has
    // another value in each iteration of the loops around its declaration.
    bool is_fixed = !done.data_dependent && (!is_target || statement.is_kept);
    const auto declared = declared_.find(access.buffer);
    const size_t begin = declared != declared_.end() ? declared->second : 0;
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
          if (is_innermost && stride >= kStreamBytes) {
            done.streams *= level.trips;
          }
          // Copies that load the same share the value.
          if (stride > 0 || done.data_dependent) instructions *= level.trips;
          break;
        default:
          if (is_innermost) done.innermost_stride = stride;
          is_innermost = false;
          is_fixed = is_fixed && stride == 0 && i > begin;
          if (!is_fixed) instructions *= level.trips;
      }
    }
    std::reverse(placed.moved.begin(), placed.moved.end());
    const double vectors = std::max(
        1.0, std::ceil(statement.lanes * done.element_bytes / vector_bytes_));
    const bool is_adjacent = done.lane_stride == done.element_bytes ||
                             // Narrow elements as if they were one.
                             (statement.is_dot && done.lane_stride > 0);
    const bool is_register = buffer.memory == loops::Memory::kRegister;
    const auto transposed = transposed_.find(&access);
    if (is_register &&
        (statement.lanes <= 1 || done.lane_stride == 0 || is_adjacent)) {
      done.form = AccessForm::kRegister;
      instructions = 0;
    } else if (transposed != transposed_.end()) {
      done.form = AccessForm::kTransposed;
      instructions *=
          statement.lanes / static_cast<double>(transposed->second) +
          kTransposeShuffles;
    } else if (statement.lanes <= 1) {
      done.form = AccessForm::kScalar;
    } else if (done.lane_stride == 0 && !done.data_dependent) {
      done.form = AccessForm::kBroadcast;
    } else if (is_adjacent) {
      done.form = AccessForm::kContiguous;
      instructions *= vectors;
    } else {
      done.form = AccessForm::kScattered;
      done.register_scattered = is_register;
      instructions *= statement.lanes;
    }
    done.instructions = instructions;
    done.non_temporal = is_target && statement.non_temporal &&
                        done.form == AccessForm::kContiguous &&
                        statement.masked_share < 1;
    work_.accesses.push_back(done);
    placed_.push_back(std::move(placed));
  }

  // Returns the innermost level around both that is a loop in the code, or the
  // kernel. Levels come after those around them.
  const LoopLevel& CommonLevel(int32_t a, int32_t b) const {
    const auto at = [&](int32_t level) -> const LoopLevel& {
      return work_.levels[static_cast<size_t>(level)];
    };
    while (a != b) (a > b ? a : b) = at(std::max(a, b)).parent;
    while (a > 0 && IsRepeatedInCode(*at(a).loop)) a = at(a).parent;
    return at(a);
  }

  void CountLinks() {
    // By buffer: the level of the next statement that loads it.
    absl::flat_hash_map<loops::BufferId, int32_t> next_load;
    for (size_t s = work_.statements.size(); s-- > 0;) {
      const StatementWork& statement = work_.statements[s];
      const auto first = work_.accesses.begin() +
                         static_cast<std::ptrdiff_t>(statement.first_access);
      // The store is the last one.
      const auto store =
          first + static_cast<std::ptrdiff_t>(statement.access_count) - 1;
      const auto load = next_load.find(store->buffer);
      if (statement.is_reduction && load != next_load.end() &&
          (statement.lanes <= 1 || statement.lane_sums > 0)) {
        const LoopLevel& level = CommonLevel(statement.level, load->second);
        work_.serial_links += level.entries * level.trips;
      }
      for (auto access = first; access != store; ++access) {
        next_load[access->buffer] = statement.level;
      }
    }
  }

  const loops::Program& program_;
  const loops::Machine& machine_;
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
  // Of the current vector loop: the accesses that are transposed, and the
  // extents of the unrolled loops along which they are contiguous.
  absl::flat_hash_map<const loops::Access*, int64_t> transposed_;
  // By access.
  std::vector<PlacedAccess> placed_;
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
