#include "hlo/analysis/canonical.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"
#include "hlo/analysis/canonical_encoding.h"

namespace hone::hlo {
namespace {

constexpr int32_t kUnnumbered = -1;

bool Less(const Hash128& a, const Hash128& b) {
  return std::pair(a.high, a.low) < std::pair(b.high, b.low);
}

void AppendHash(const Hash128& hash, std::string& out) {
  AppendInteger(static_cast<int64_t>(hash.low), out);
  AppendInteger(static_cast<int64_t>(hash.high), out);
}

void WriteHeader(const Module& module, std::string& out) {
  // Raised whenever the form changes, since stored keys depend on it.
  constexpr absl::string_view kVersion = "hone-hlo-1";
  AppendBytes(kVersion, out);
  AppendInteger(module.is_scheduled() ? 1 : 0, out);
  std::vector<std::pair<std::string, std::string>> header = module.header();
  std::stable_sort(
      header.begin(), header.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  AppendSize(header.size(), out);
  for (const auto& [name, value] : header) {
    AppendBytes(name, out);
    AppendText(value, out);
  }
  AppendSize(module.entry_parameter_shapes().size(), out);
  for (const ShapePtr& shape : module.entry_parameter_shapes()) {
    AppendShape(*shape, out);
  }
  const bool has_result = module.entry_result_shape() != nullptr;
  AppendInteger(has_result ? 1 : 0, out);
  if (has_result) AppendShape(*module.entry_result_shape(), out);
}

// A hash of the contents of computations, callees included: it orders what no
// canonical traversal reaches. Few are ever asked for.
class ContentHashes {
 public:
  explicit ContentHashes(const Module& module)
      : module_(module),
        state_(static_cast<size_t>(module.computation_slots()), kNew),
        hashes_(state_.size()) {}

  // The empty hash for a computation that is being hashed itself, which happens
  // in a call cycle.
  const Hash128& Of(ComputationId id) {
    if (state_[static_cast<size_t>(id)] == kNew) Compute(id);
    return hashes_[static_cast<size_t>(id)];
  }

 private:
  enum State : uint8_t { kNew, kOpen, kDone };

  void Compute(ComputationId start);

  const Module& module_;
  std::vector<State> state_;
  std::vector<Hash128> hashes_;
};

// Writes computations, one after the other, to a string.
class ComputationWriter {
 public:
  ComputationWriter(const Module& module, ContentHashes& hashes,
                    std::string& out)
      : module_(module), hashes_(hashes), out_(out) {}

  std::vector<InstructionId> Order(const Computation& computation) {
    NumberInstructions(computation);
    return order_;
  }

  // `callee` and `elided` write a reference to a computation and to a constant
  // without values.
  template <typename Callee, typename Elided>
  void Write(const Computation& computation, const Callee& callee,
             const Elided& elided) {
    NumberInstructions(computation);
    AppendSize(order_.size(), out_);
    for (InstructionId id : order_) {
      WriteInstruction(
          computation, id, out_,
          [this](InstructionId operand) {
            AppendInteger(numbers_[static_cast<size_t>(operand)], out_);
          },
          callee, elided);
    }
    AppendInteger(computation.root() == kNoInstruction
                      ? kUnnumbered
                      : numbers_[static_cast<size_t>(computation.root())],
                  out_);
    AppendText(computation.suffix(), out_);
  }

 private:
  struct Frame {
    InstructionId id;
    size_t next;
  };

  void NumberInstructions(const Computation& computation) {
    order_.clear();
    numbers_.assign(static_cast<size_t>(computation.slot_count()), kUnnumbered);
    if (module_.is_scheduled()) {
      for (InstructionId id : computation.LiveInstructions()) Number(id);
      return;
    }
    for (InstructionId id : computation.parameters()) {
      if (id != kNoInstruction) Visit(computation, id);
    }
    if (computation.root() != kNoInstruction) {
      Visit(computation, computation.root());
    }
    if (static_cast<int64_t>(order_.size()) < computation.live_count()) {
      VisitDead(computation);
    }
  }

  void Number(InstructionId id) {
    numbers_[static_cast<size_t>(id)] = static_cast<int32_t>(order_.size());
    order_.push_back(id);
  }

  // Numbers `start` and what it depends on in post-order.
  void Visit(const Computation& computation, InstructionId start) {
    constexpr int32_t kOpen = -2;
    if (numbers_[static_cast<size_t>(start)] != kUnnumbered) return;
    numbers_[static_cast<size_t>(start)] = kOpen;
    stack_.push_back({start, 0});
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const InstructionIds& operands = computation[frame.id].operands();
      const auto control = computation.control_predecessors(frame.id);
      InstructionId next = kNoInstruction;
      while (frame.next < operands.size() + control.size()) {
        const size_t i = frame.next++;
        const InstructionId candidate =
            i < operands.size() ? operands[i] : control[i - operands.size()];
        if (numbers_[static_cast<size_t>(candidate)] == kUnnumbered) {
          next = candidate;
          break;
        }
      }
      if (next == kNoInstruction) {
        Number(frame.id);
        stack_.pop_back();
      } else {
        numbers_[static_cast<size_t>(next)] = kOpen;
        stack_.push_back({next, 0});
      }
    }
  }

  // Numbers what neither the root nor a parameter depends on.
  void VisitDead(const Computation& computation) {
    // Operands before users, in an order that does not count.
    const auto alive = static_cast<int64_t>(order_.size());
    for (const Instruction& i : computation.instructions()) {
      Visit(computation, i.id());
    }
    const std::vector<InstructionId> dead(order_.begin() + alive, order_.end());
    order_.resize(static_cast<size_t>(alive));
    for (InstructionId id : dead) {
      numbers_[static_cast<size_t>(id)] = kUnnumbered;
    }
    std::vector<Hash128> hashes(numbers_.size());
    std::vector<std::pair<Hash128, InstructionId>> roots;
    std::string scratch;
    for (InstructionId id : dead) {
      scratch.clear();
      WriteInstruction(
          computation, id, scratch,
          [&](InstructionId operand) {
            const int32_t number = numbers_[static_cast<size_t>(operand)];
            AppendInteger(number, scratch);
            if (number == kUnnumbered) {
              AppendHash(hashes[static_cast<size_t>(operand)], scratch);
            }
          },
          [&](ComputationId callee) {
            AppendHash(hashes_.Of(callee), scratch);
          },
          [](const Literal&) {});
      hashes[static_cast<size_t>(id)] = FastHash(scratch);
      if (computation[id].users().empty()) {
        roots.emplace_back(hashes[static_cast<size_t>(id)], id);
      }
    }
    std::stable_sort(
        roots.begin(), roots.end(),
        [](const auto& a, const auto& b) { return Less(a.first, b.first); });
    for (const auto& [hash, id] : roots) Visit(computation, id);
    // Only cycles are left.
    for (InstructionId id : dead) Visit(computation, id);
  }

  // The three callbacks write a reference to an operand, to a callee and to a
  // constant without values.
  template <typename Operand, typename Callee, typename Elided>
  static void WriteInstruction(const Computation& computation, InstructionId id,
                               std::string& out, const Operand& operand,
                               const Callee& callee, const Elided& elided) {
    const Instruction& instruction = computation[id];
    out.push_back(static_cast<char>(instruction.opcode()));
    if (instruction.unknown_opcode() != nullptr) {
      AppendBytes(*instruction.unknown_opcode(), out);
    }
    AppendShape(instruction.shape(), out);
    AppendSize(instruction.operand_count(), out);
    for (InstructionId i : instruction.operands()) operand(i);
    AppendInteger(instruction.index(), out);
    AppendSize(instruction.called().size(), out);
    for (ComputationId i : instruction.called()) callee(i);
    const auto control = computation.control_predecessors(id);
    AppendSize(control.size(), out);
    for (InstructionId i : control) operand(i);
    if (instruction.literal() != nullptr) {
      WriteLiteral(*instruction.literal(), out, elided);
    }
    // Attributes are compared by value, since `dimensions={}` says no more than
    // no attributes. Most that have none share the same object, which is the
    // faster test.
    const bool has_attributes =
        instruction.attributes_ptr() != NoAttributes() &&
        !(instruction.attributes() == *NoAttributes());
    out.push_back(has_attributes ? 1 : 0);
    if (has_attributes) AppendAttributeValues(instruction.attributes(), out);
  }

  // The shape is that of the instruction.
  template <typename Elided>
  static void WriteLiteral(const Literal& literal, std::string& out,
                           const Elided& elided) {
    out.push_back(literal.is_elided() ? 1 : 0);
    if (literal.is_elided()) return elided(literal);
    if (literal.shape().IsTuple()) {
      for (const Literal& element : literal.elements()) {
        WriteLiteral(element, out, elided);
      }
      return;
    }
    out.append(reinterpret_cast<const char*>(literal.data()),
               static_cast<size_t>(literal.byte_size()));
  }

  const Module& module_;
  ContentHashes& hashes_;
  std::string& out_;
  // State of the computation being written; members to reuse their memory.
  std::vector<int32_t> numbers_;
  std::vector<InstructionId> order_;
  std::vector<Frame> stack_;
};

// Callees first, on a stack of our own: call graphs may be deep.
void ContentHashes::Compute(ComputationId start) {
  std::string text;
  ComputationWriter writer(module_, *this, text);
  std::vector<ComputationId> stack = {start};
  while (!stack.empty()) {
    const ComputationId id = stack.back();
    State& state = state_[static_cast<size_t>(id)];
    const Computation& computation = module_.computation(id);
    if (state == kNew) {
      state = kOpen;
      for (const Instruction& i : computation.instructions()) {
        for (ComputationId callee : i.called()) {
          if (state_[static_cast<size_t>(callee)] == kNew) {
            stack.push_back(callee);
          }
        }
      }
      continue;
    }
    stack.pop_back();
    if (state == kDone) continue;
    text.clear();
    writer.Write(
        computation,
        [&](ComputationId callee) { AppendHash(Of(callee), text); },
        [](const Literal&) {});
    hashes_[static_cast<size_t>(id)] = FastHash(text);
    state = kDone;
  }
}

// Writes the computations of a module in the order of their first call.
class ModuleWriter {
 public:
  explicit ModuleWriter(const Module& module)
      : module_(module),
        hashes_(module),
        writer_(module, hashes_, out_),
        numbers_(static_cast<size_t>(module.computation_slots()), kUnnumbered) {
    out_.reserve(static_cast<size_t>(module.instruction_count()) * 64);
  }

  std::string Write() && {
    WriteHeader(module_, out_);
    if (module_.entry() != kNoComputation) WriteReachable(module_.entry());
    std::vector<std::pair<Hash128, ComputationId>> uncalled;
    for (const Computation& c : module_.computations()) {
      if (!IsNumbered(c.id()))
        uncalled.emplace_back(hashes_.Of(c.id()), c.id());
    }
    std::stable_sort(
        uncalled.begin(), uncalled.end(),
        [](const auto& a, const auto& b) { return Less(a.first, b.first); });
    for (const auto& [hash, id] : uncalled) {
      if (!IsNumbered(id)) WriteReachable(id);
    }
    return std::move(out_);
  }

 private:
  bool IsNumbered(ComputationId id) const {
    return numbers_[static_cast<size_t>(id)] != kUnnumbered;
  }

  int32_t Number(ComputationId id) {
    int32_t& number = numbers_[static_cast<size_t>(id)];
    if (number == kUnnumbered) {
      number = static_cast<int32_t>(order_.size());
      order_.push_back(id);
    }
    return number;
  }

  void WriteReachable(ComputationId start) {
    size_t next = order_.size();
    Number(start);
    for (; next < order_.size(); ++next) {
      writer_.Write(
          module_.computation(order_[next]),
          [this](ComputationId callee) { AppendInteger(Number(callee), out_); },
          [this](const Literal& literal) {
            const size_t number = elided_.size();
            AppendSize(elided_.emplace(literal.data(), number).first->second,
                       out_);
          });
    }
  }

  const Module& module_;
  std::string out_;
  ContentHashes hashes_;
  ComputationWriter writer_;
  std::vector<int32_t> numbers_;
  std::vector<ComputationId> order_;
  // Elided constants in order of appearance, by the identity of their data.
  absl::flat_hash_map<const std::byte*, size_t> elided_;
};

}  // namespace

std::string CanonicalForm(const Module& module) {
  return ModuleWriter(module).Write();
}

std::vector<InstructionId> CanonicalOrder(const Module& module,
                                          ComputationId computation) {
  ContentHashes hashes(module);
  std::string unused;
  return ComputationWriter(module, hashes, unused)
      .Order(module.computation(computation));
}

std::vector<InstructionId> CanonicalOrder(const Module& module) {
  return CanonicalOrder(module, module.entry());
}

}  // namespace hone::hlo
