#include "tests/hlo/fusion/support.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/fusion/kernel_rules.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

constexpr char kReducer[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
)";

}  // namespace

Module VerifiedModule(absl::string_view text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return Module();
  const absl::Status status = VerifyModule(*module);
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(module);
}

const std::vector<std::string>& SmallModules() {
  static const auto* const modules = new std::vector<std::string>{
      // Two heroes in a row, the second with elementwise work after it.
      absl::StrCat(kReducer, R"(ENTRY main {
  x = f32[32,32] parameter(0)
  zero = f32[] constant(0)
  n = f32[32,32] negate(x)
  d = f32[32,32] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[32,32] tanh(d)
  s = f32[32] reduce(t, zero), dimensions={1}, to_apply=add
  e = f32[32] exponential(s)
  b = f32[32,32] broadcast(e), dimensions={0}
  ROOT r = f32[32,32] add(b, t)
})"),
      // A hero with two readers, one of which reads the other.
      absl::StrCat(kReducer, R"(ENTRY main {
  x = f32[32,32] parameter(0)
  zero = f32[] constant(0)
  s = f32[32] reduce(x, zero), dimensions={1}, to_apply=add
  a = f32[32] negate(s)
  b = f32[32] add(a, s)
  c = f32[32] multiply(a, b)
  two = f32[2,32] broadcast(c), dimensions={1}
  ROOT r = f32[2,32] tanh(two)
})"),
      // Movement between a hero and the root; an update as a root; a small
      // reduction.
      absl::StrCat(kReducer, R"(ENTRY main {
  x = f32[4,4] parameter(0)
  i = s32[] parameter(1)
  zero = f32[] constant(0)
  d = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,4] transpose(d), dimensions={1,0}
  n = f32[4,4] negate(t)
  u = f32[4,4] dynamic-update-slice(n, x, i, i)
  s = f32[4] reduce(u, zero), dimensions={0}, to_apply=add
  b = f32[4,4] broadcast(s), dimensions={0}
  z = f32[4,4] broadcast(zero), dimensions={}
  m = f32[4,4] maximum(b, z)
  ROOT r = f32[4,4] add(m, n)
})"),
      // Dots that are no roots, with one in a form that is.
      R"(HloModule m
ENTRY main {
  x = f32[4,3,2] parameter(0)
  n = f32[4,3,2] negate(x)
  d = f32[3,4,4] dot(n, x), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  e = f32[3,4,4] exponential(d)
  c = f32[3,4,4] dot(e, e), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT t = f32[3,4,4] tanh(c)
})",
      // In a loop, next to the entry's own.
      absl::StrCat(kReducer, R"(body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  c = f32[8] tanh(v)
  d = f32[8] negate(c)
  w = f32[8] add(c, d)
  ROOT t = (s32[], f32[8]) tuple(next, w)
}
condition {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[8] parameter(0)
  start = s32[] constant(0)
  a = f32[8] negate(x)
  b = f32[8] tanh(a)
  g = f32[8] sort(b), dimensions={0}, to_apply=less
  t = (s32[], f32[8]) tuple(start, g)
  loop = (s32[], f32[8]) while(t), condition=condition, body=body
  y = f32[8] get-tuple-element(loop), index=1
  k = f32[8] sine(y)
  ROOT r = f32[8] add(k, y)
}
less {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT l = pred[] compare(p, q), direction=LT
})"),
  };
  return *modules;
}

FusionIndex NodeNamed(const FusionSpace& space, absl::string_view name) {
  for (size_t i = 0; i < space.size(); ++i) {
    const auto node = static_cast<FusionIndex>(i);
    if (space.NameOf(node) == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return 0;
}

FusionBits FuseNodes(const FusionSpace& space,
                     const std::vector<std::string>& names) {
  FusionBits fused = space.Unfused();
  for (const std::string& name : names) {
    fused[static_cast<size_t>(NodeNamed(space, name))] = kFused;
  }
  return fused;
}

FusionBits RandomFusion(const FusionSpace& space, Rng& rng) {
  const double share = rng.Uniform();
  FusionBits wanted = space.Unfused();
  for (const FusionIndex node : space.fusible()) {
    if (rng.Uniform() < share) wanted[static_cast<size_t>(node)] = kFused;
  }
  return KernelRules(space).Legalize(wanted);
}

LayoutBits RandomLayouts(const FusionSpace& space, Rng& rng) {
  LayoutBits layouts = space.RowMajor();
  for (const FusionIndex node : space.swappable()) {
    layouts[static_cast<size_t>(node)] = static_cast<uint8_t>(rng.Below(2));
  }
  return layouts;
}

Module ComposeOfKernels(const Module& module,
                        absl::Span<const Kernel> kernels) {
  Module composed = module;
  // The calls in place of instructions, by computation.
  absl::flat_hash_map<std::pair<ComputationId, InstructionId>, InstructionId>
      calls;
  int next = 0;
  for (const Kernel& kernel : kernels) {
    absl::flat_hash_map<ComputationId, ComputationId> copies;
    for (const ComputationId id : kernel.module.ComputationPostOrder()) {
      Computation copy = kernel.module.computation(id);
      for (const Instruction& instruction : copy.instructions()) {
        ComputationIds called;
        for (const ComputationId callee : instruction.called()) {
          called.push_back(copies.at(callee));
        }
        copy.mutable_instruction(instruction.id()).set_called(called);
      }
      copy.set_name(absl::StrCat("of_kernel_", next++));
      copies[id] = composed.AddComputation(std::move(copy));
    }
    const Computation& region = module.computation(kernel.computation);
    const Instruction& instruction = region[kernel.instruction];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : instruction.operands()) {
      const bool is_embedded = instruction.opcode() != Opcode::kFusion &&
                               (absl::c_linear_search(operands, operand) ||
                                (region[operand].IsConstant() &&
                                 region[operand].shape().IsScalar()));
      if (!is_embedded) operands.push_back(operand);
    }
    for (InstructionId& operand : operands) {
      const auto it = calls.find({kernel.computation, operand});
      if (it != calls.end()) operand = it->second;
    }
    Instruction call(Opcode::kCall, instruction.shape_ptr(), operands);
    call.set_called({copies.at(kernel.module.entry())});
    Computation& target = composed.mutable_computation(kernel.computation);
    const InstructionId id = target.AddInstruction(std::move(call));
    target.ReplaceAllUses(kernel.instruction, id);
    calls[{kernel.computation, kernel.instruction}] = id;
  }
  return composed;
}

double MadeUpTime(const Module& kernel) {
  const Computation& computation = kernel.entry_computation();
  double time = 100;
  for (const Instruction& instruction : computation.instructions()) {
    const auto bytes = static_cast<double>(instruction.shape().byte_size());
    time += instruction.opcode() == Opcode::kParameter
                ? 2 * bytes
                : 3 + static_cast<int>(instruction.opcode()) % 5;
    if (instruction.id() == computation.root()) time += 2 * bytes;
    if (instruction.opcode() == Opcode::kDot ||
        instruction.opcode() == Opcode::kReduce) {
      time += bytes;
    }
  }
  return time;
}

}  // namespace hone::hlo
