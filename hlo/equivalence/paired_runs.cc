#include "hlo/equivalence/paired_runs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"
#include "hlo/equivalence/double_precision.h"
#include "hlo/equivalence/literal_scan.h"
#include "hlo/evaluator/buffer_pool.h"
#include "hlo/evaluator/rounding_noise.h"
#include "hlo/ir/float_formats.h"

namespace hone::hlo {
namespace {

// How many instructions of each opcode round to how many bits.
using Roundings = std::map<Opcode, std::map<int64_t, int64_t>>;

Roundings RoundingsOf(const Module& module) {
  Roundings roundings;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      const ElementType type = instruction.shape().element_type();
      if (!IsFloat(type) && !IsComplex(type)) continue;
      const Opcode opcode = instruction.opcode();
      if (opcode == Opcode::kReducePrecision) {
        ++roundings[opcode][instruction.attributes().mantissa_bits];
      } else if (evaluator::IsRounded(module, instruction)) {
        ++roundings[opcode][MantissaBits(type)];
      }
    }
  }
  return roundings;
}

// Returns true if b has more instructions of an opcode that round to some
// number of bits or fewer than a has, where that is less than a's widest type.
bool IsNarrower(const Module& b, const Module& a) {
  Roundings of_a = RoundingsOf(a);
  int64_t widest = 0;
  for (const auto& [_, counts] : of_a) {
    widest = std::max(widest, counts.rbegin()->first);
  }
  for (const auto& [opcode, counts] : RoundingsOf(b)) {
    const std::map<int64_t, int64_t>& before = of_a[opcode];
    int64_t more = 0;
    auto it = before.begin();
    for (const auto& [bits, count] : counts) {
      if (bits >= widest && widest > 0) break;
      more += count;
      for (; it != before.end() && it->first <= bits; ++it) more -= it->second;
      if (more > 0) return true;
    }
  }
  return false;
}

}  // namespace

PairedRuns::PairedRuns(const Module& a, const Module& b,
                       const EvaluateOptions& options)
    : merged_(a, b),
      is_b_narrower_(IsNarrower(b, a)),
      options_(options),
      all_outputs_(static_cast<size_t>(merged_.output_count())) {
  options_.buffers = evaluator::BufferPool::Create(options.max_live_bytes);
  std::iota(all_outputs_.begin(), all_outputs_.end(), 0);
}

absl::Status PairedRuns::InOwnTypes(absl::Span<const Literal> arguments,
                                    Coverage& coverage,
                                    const OnOutput& on_output) {
  EvaluateOptions options = options_;
  options.coverage = &coverage;
  absl::flat_hash_map<Hash128, InstructionId> of_a;
  replacements_.clear();
  options.on_value = [&](InstructionId id, const Literal& value) {
    if (!value.shape().IsArray()) return;
    const Hash128 hash = HashArray(value, options_.pool);
    if (merged_.IsOfA(id)) {
      of_a.try_emplace(hash, id);
    } else if (const auto it = of_a.find(hash); it != of_a.end()) {
      replacements_.emplace_back(id, it->second);
    }
  };
  return Run(merged_.module(), all_outputs_, arguments, std::move(options),
             on_output);
}

absl::Status PairedRuns::OfAInOwnTypes(absl::Span<const Literal> arguments,
                                       const OnOneOutput& on_output) const {
  return RunOne(Partner::kA, all_outputs_, arguments, options_, on_output);
}

absl::Status PairedRuns::InDoublePrecision(absl::Span<const Literal> arguments,
                                           absl::Span<const int64_t> outputs,
                                           const OnOutput& on_output) const {
  return Run(InDoublePrecisionInside(merged_.Slice(outputs, replacements_)),
             outputs, arguments, options_, on_output);
}

absl::Status PairedRuns::WithRoundingNoise(Partner partner,
                                           absl::Span<const Literal> arguments,
                                           absl::Span<const int64_t> outputs,
                                           uint64_t seed,
                                           const OnOneOutput& on_output) const {
  EvaluateOptions options = options_;
  options.rounding_noise = seed;
  return RunOne(partner, outputs, arguments, std::move(options), on_output);
}

absl::Status PairedRuns::RunOne(Partner partner,
                                absl::Span<const int64_t> outputs,
                                absl::Span<const Literal> arguments,
                                EvaluateOptions options,
                                const OnOneOutput& on_output) const {
  options.take_output = [&](int64_t number, Literal value) {
    return on_output(outputs[static_cast<size_t>(number)], std::move(value));
  };
  return Evaluate(merged_.SliceOf(partner, outputs), arguments, options)
      .status();
}

absl::Status PairedRuns::Run(const Module& slice,
                             absl::Span<const int64_t> outputs,
                             absl::Span<const Literal> arguments,
                             EvaluateOptions options,
                             const OnOutput& on_output) {
  struct Pair {
    Literal values[2];
    int count = 0;
  };
  std::vector<Pair> pairs(outputs.size());
  options.take_output = [&](int64_t number, Literal value) {
    const auto position = static_cast<size_t>(number / 2);
    Pair& pair = pairs[position];
    pair.values[number % 2] = std::move(value);
    if (++pair.count < 2) return absl::OkStatus();
    return on_output(outputs[position], std::move(pair.values[0]),
                     std::move(pair.values[1]));
  };
  return Evaluate(slice, arguments, options).status();
}

}  // namespace hone::hlo
