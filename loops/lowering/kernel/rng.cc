#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

// Source of the generators: Salmon, Moraes, Dror and Shaw, "Parallel Random
// Numbers: As Easy as 1, 2, 3", 2011. How counters map to elements is XLA's, of
// which the CPU backend takes Philox by default.

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Opcode;

// Blocks of random words that vectors compute at once.
constexpr int64_t kLanes = 16;

ExpressionPtr U32(uint32_t value) {
  return Expression::ConstantInt(ElementType::kU32, value);
}
ExpressionPtr U64(uint64_t value) {
  return Expression::ConstantInt(ElementType::kU64,
                                 static_cast<int64_t>(value));
}

ExpressionPtr Add(ExpressionPtr a, ExpressionPtr b) {
  return Apply(Opcode::kAdd, std::move(a), std::move(b));
}
ExpressionPtr Xor(ExpressionPtr a, ExpressionPtr b) {
  return Apply(Opcode::kXor, std::move(a), std::move(b));
}

ExpressionPtr Low(ExpressionPtr x) {
  return Converted(ElementType::kU32, std::move(x));
}
ExpressionPtr High(ExpressionPtr x) {
  return Converted(ElementType::kU32,
                   Apply(Opcode::kShiftRightLogical, std::move(x), U64(32)));
}
ExpressionPtr Rotated(const ExpressionPtr& x, uint32_t bits) {
  return Apply(Opcode::kOr, Apply(Opcode::kShiftLeft, x, U32(bits)),
               Apply(Opcode::kShiftRightLogical, x, U32(32 - bits)));
}

class RngWriter {
 public:
  RngWriter(KernelWriter& writer, Nest& nest, hlo::InstructionId id)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        instruction_(graph_.computation()[id]),
        state_operand_(graph_.operands(id)[0]),
        state_result_(graph_.leaves(id)[0]),
        bits_(graph_.leaves(id)[1]),
        type_(graph_.type(bits_)),
        sizes_(graph_.dimensions(bits_)),
        is_threefry_(instruction_.attributes().rng_algorithm ==
                     hlo::RandomAlgorithm::kThreeFry),
        is_wide_(hlo::ByteWidth(type_) == 8) {}

  absl::Status Run() {
    HONE_RETURN_IF_ERROR(Check());
    int64_t count = 1;
    for (int64_t size : sizes_) count *= size;
    per_block_ = (is_threefry_ ? 2 : 4) / (is_wide_ ? 2 : 1);
    int64_t blocks = (count + per_block_ - 1) / per_block_;
    if (is_threefry_ && !is_wide_) {
      HONE_ASSIGN_OR_RETURN(blocks, WritePairs());
    } else if (count > 0) {
      HONE_RETURN_IF_ERROR(WriteLine({}, count, U64(0), 0));
    }
    HONE_RETURN_IF_ERROR(WriteState(blocks));
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

 private:
  absl::Status Check() const {
    const DimensionVector& state = graph_.dimensions(state_operand_);
    const bool fits = graph_.type(state_operand_) == ElementType::kU64 &&
                      state.size() == 1 &&
                      (state[0] == 2 || (state[0] == 3 && !is_threefry_));
    if (!fits) return Unsupported(instruction_, "the state is unusual");
    if (!hlo::IsIntegral(type_)) {
      return Unsupported(instruction_, "numbers that are not integers");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ExpressionPtr> State(int64_t i) {
    return writer_.Read(nest_, state_operand_, {Index(Affine(i))});
  }

  // Returns the elements that a block of words makes; `number` is the number of
  // the block, a u64.
  absl::StatusOr<std::vector<ExpressionPtr>> Block(ExpressionPtr number) {
    HONE_ASSIGN_OR_RETURN(ExpressionPtr key, State(0));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr counter, State(1));
    ExpressionPtr low = nest_.Hold("counter", Add(counter, std::move(number)));
    std::vector<ExpressionPtr> words;
    if (is_threefry_) {
      words = ThreeFry(key, low);
    } else {
      // Two words of state leave the key for the upper half of the counter.
      ExpressionPtr high = key;
      if (graph_.dimensions(state_operand_)[0] == 3) {
        HONE_ASSIGN_OR_RETURN(high, State(2));
      }
      ExpressionPtr carry = Converted(
          ElementType::kU64, Expression::Compare(hlo::ComparisonDirection::kLt,
                                                 false, low, counter));
      high = nest_.Hold("high", Add(std::move(high), std::move(carry)));
      words = Philox(key, {Low(low), High(low), Low(high), High(high)});
    }
    return Elements(words);
  }

  // Threefry-2x32, 20 rounds.
  std::vector<ExpressionPtr> ThreeFry(const ExpressionPtr& key,
                                      const ExpressionPtr& counter) {
    constexpr std::array<uint32_t, 8> kRotations = {13, 15, 26, 6,
                                                    17, 29, 16, 24};
    const std::array<ExpressionPtr, 3> keys = {
        Low(key), High(key), Xor(Xor(Low(key), High(key)), U32(0x1BD11BDA))};
    ExpressionPtr a = nest_.Hold("a", Add(Low(counter), keys[0]));
    ExpressionPtr b = nest_.Hold("b", Add(High(counter), keys[1]));
    for (size_t round = 0; round < 20; ++round) {
      a = nest_.Hold("a", Add(std::move(a), b));
      b = nest_.Hold("b", Xor(Rotated(b, kRotations[round % 8]), a));
      if (round % 4 == 3) {
        const uint32_t step = static_cast<uint32_t>(round / 4 + 1);
        a = nest_.Hold("a", Add(std::move(a), keys[step % 3]));
        b = nest_.Hold("b",
                       Add(Add(std::move(b), keys[(step + 1) % 3]), U32(step)));
      }
    }
    return {a, b};
  }

  // Philox-4x32, 10 rounds.
  std::vector<ExpressionPtr> Philox(const ExpressionPtr& key,
                                    std::vector<ExpressionPtr> c) {
    const auto product = [&](uint64_t factor, const ExpressionPtr& word) {
      return nest_.Hold("product",
                        Apply(Opcode::kMultiply,
                              Converted(ElementType::kU64, word), U64(factor)));
    };
    for (ExpressionPtr& word : c) word = nest_.Hold("word", std::move(word));
    for (uint32_t round = 0; round < 10; ++round) {
      const ExpressionPtr k0 = Add(Low(key), U32(round * 0x9E3779B9u));
      const ExpressionPtr k1 = Add(High(key), U32(round * 0xBB67AE85u));
      const ExpressionPtr x = product(0xD2511F53, c[0]);
      const ExpressionPtr y = product(0xCD9E8D57, c[2]);
      c = {Xor(Xor(High(y), c[1]), k0), Low(y), Xor(Xor(High(x), c[3]), k1),
           Low(x)};
      for (ExpressionPtr& word : c) word = nest_.Hold("word", std::move(word));
    }
    return c;
  }

  // Returns words as elements: pairs of them, or their low bits.
  std::vector<ExpressionPtr> Elements(std::vector<ExpressionPtr> words) const {
    std::vector<ExpressionPtr> elements;
    for (size_t i = 0; i < words.size(); ++i) {
      ExpressionPtr element = std::move(words[i]);
      if (is_wide_) {
        ExpressionPtr high = Converted(ElementType::kU64, words[++i]);
        element =
            Apply(Opcode::kOr, Converted(ElementType::kU64, std::move(element)),
                  Apply(Opcode::kShiftLeft, std::move(high), U64(32)));
      }
      elements.push_back(Converted(type_, std::move(element)));
    }
    return elements;
  }

  Access Bits(const Indices& outer, const Affine& place) const {
    // The places of all elements are counted, or those of the last dimension.
    const BufferId buffer = writer_.BufferToWrite(bits_);
    if (outer.empty() && sizes_.size() != 1) return {buffer, {Index(place)}};
    Indices at = outer;
    at.push_back(Index(place));
    return {buffer, at};
  }

  // Writes `count` contiguous elements from blocks that follow block `first`,
  // kLanes blocks at a time. `depth` loops are open.
  absl::Status WriteLine(const Indices& outer, int64_t count,
                         const ExpressionPtr& first, size_t depth) {
    const int64_t tile = kLanes * per_block_;
    const auto write = [&](const Affine& number,
                           int64_t elements) -> absl::Status {
      std::vector<BufferId> parts;
      for (int64_t j = 0; j < per_block_; ++j) {
        parts.push_back(nest_.Temporary("bits", type_, {kLanes}));
      }
      const size_t inside = nest_.depth();
      Affine lane = nest_.AddLoop(kLanes);
      HONE_ASSIGN_OR_RETURN(
          std::vector<ExpressionPtr> made,
          Block(Add(first,
                    Converted(ElementType::kU64,
                              AsExpression(Index(number * kLanes + lane))))));
      for (size_t j = 0; j < parts.size(); ++j) {
        nest_.Store({parts[j], {Index(lane)}}, std::move(made[j]));
      }
      nest_.CloseTo(inside);
      for (int64_t j = 0; j < per_block_; ++j) {
        const int64_t lanes = (elements - j + per_block_ - 1) / per_block_;
        if (lanes <= 0) break;
        lane = nest_.AddLoop(lanes);
        nest_.Store(
            Bits(outer, number * tile + lane * per_block_ + j),
            writer_.Load({parts[static_cast<size_t>(j)], {Index(lane)}}));
        nest_.CloseTo(inside);
      }
      return absl::OkStatus();
    };
    if (count >= tile) {
      HONE_RETURN_IF_ERROR(write(nest_.AddLoop(count / tile), tile));
      nest_.CloseTo(depth);
    }
    if (count % tile > 0) {
      HONE_RETURN_IF_ERROR(write(count / tile, count % tile));
      nest_.CloseTo(depth);
    }
    return absl::OkStatus();
  }

  // Writes the words of blocks as neighbors along one dimension: the first of
  // even size, else the largest. Returns the number of blocks.
  absl::StatusOr<int64_t> WritePairs() {
    size_t split = 0;
    bool is_even = false;
    for (size_t d = 0; d < sizes_.size() && !is_even; ++d) {
      is_even = sizes_[d] % 2 == 0;
      if (is_even || sizes_[d] > sizes_[split]) split = d;
    }
    DimensionVector halved = sizes_;
    if (halved.empty()) halved.push_back(1);
    const int64_t size = halved[split];
    halved[split] = (size + 1) / 2;
    int64_t blocks = 1;
    for (int64_t extent : halved) blocks *= extent;
    if (blocks == 0) return 0;
    const auto number = [&](const Indices& at) {
      return Converted(ElementType::kU64, AsExpression(Flatten(halved, at)));
    };
    Indices at;
    for (size_t d = 0; d < split; ++d) at.push_back(nest_.AddLoop(sizes_[d]));
    const size_t depth = nest_.depth();
    if (split + 1 >= sizes_.size()) {
      Indices first = at;
      first.push_back(Index());
      HONE_RETURN_IF_ERROR(WriteLine(at, size, number(first), depth));
      nest_.CloseTo(0);
      return blocks;
    }
    // The second half of the last pair of an odd size is left out.
    for (const auto& [begin, count, words] :
         {std::array<int64_t, 3>{0, size / 2, 2},
          std::array<int64_t, 3>{size / 2, size % 2, 1}}) {
      if (count == 0) continue;
      const Affine half = nest_.AddLoop(count) + begin;
      Indices block = at;
      block.push_back(half);
      for (size_t d = split + 1; d < sizes_.size(); ++d) {
        block.push_back(nest_.AddLoop(sizes_[d]));
      }
      HONE_ASSIGN_OR_RETURN(std::vector<ExpressionPtr> elements,
                            Block(number(block)));
      for (int64_t j = 0; j < words; ++j) {
        Indices target = block;
        target[split] = half * 2 + j;
        nest_.Store(writer_.Target(nest_, bits_, target),
                    std::move(elements[static_cast<size_t>(j)]));
      }
      nest_.CloseTo(depth);
    }
    nest_.CloseTo(0);
    return blocks;
  }

  // Advances the counter by `blocks`.
  absl::Status WriteState(int64_t blocks) {
    HONE_ASSIGN_OR_RETURN(const ExpressionPtr key, State(0));
    HONE_ASSIGN_OR_RETURN(const ExpressionPtr counter, State(1));
    const auto store = [&](int64_t i, ExpressionPtr value) {
      nest_.Store(writer_.Target(nest_, state_result_, {Index(Affine(i))}),
                  std::move(value));
    };
    const ExpressionPtr next = Add(counter, U64(static_cast<uint64_t>(blocks)));
    store(0, key);
    store(1, next);
    if (graph_.dimensions(state_operand_)[0] < 3) return absl::OkStatus();
    HONE_ASSIGN_OR_RETURN(ExpressionPtr high, State(2));
    store(2, Add(std::move(high),
                 Converted(ElementType::kU64,
                           Expression::Compare(hlo::ComparisonDirection::kLt,
                                               false, next, counter))));
    return absl::OkStatus();
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const hlo::Instruction& instruction_;
  const ValueId state_operand_;
  const ValueId state_result_;
  const ValueId bits_;
  const ElementType type_;
  const DimensionVector& sizes_;
  const bool is_threefry_;
  // An element has two words.
  const bool is_wide_;
  // Elements of a block.
  int64_t per_block_ = 0;
};

}  // namespace

absl::Status WriteRngBitGenerator(KernelWriter& writer, Nest& nest,
                                  hlo::InstructionId id) {
  return RngWriter(writer, nest, id).Run();
}

}  // namespace hone::loops
