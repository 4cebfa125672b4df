#include "costmodels/xla_cpu_features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "costmodels/xla_cpu_library.h"
#include "costmodels/xla_cpu_loops.h"
#include "costmodels/xla_cpu_rules.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/ir/id_map.h"

namespace hone::costmodels {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::IdMap;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

// A kernel as instructions of one computation: those of a fusion, or some of
// the computation that it is in.
class KernelCosts {
 public:
  KernelCosts(const Module& module, const Computation& computation,
              absl::Span<const InstructionId> members)
      : module_(module), computation_(computation), members_(members) {}

  XlaCpuFeatures Loop(InstructionId root) {
    AddLoopFeatures(module_, computation_, members_, root, features_);
    return features_;
  }

  XlaCpuFeatures Library(InstructionId root) {
    features_[kLibraryCalls] += 1;
    for (InstructionId id : members_) {
      const Instruction& instruction = computation_[id];
      if (instruction.opcode() == Opcode::kDot) {
        AddDot(instruction);
      } else if (hlo::IsElementwise(instruction.opcode())) {
        const double count = Elements(instruction.shape());
        const OpClass op = ClassOf(instruction.opcode());
        if (op == OpClass::kFunction || op == OpClass::kSlowFunction) {
          features_[kLibraryFunctions] += count;
        } else {
          features_[kLibraryFlops] += count;
        }
      } else if (IsReduction(instruction.opcode())) {
        AddReduction(instruction);
      } else if (instruction.opcode() == Opcode::kConvolution) {
        AddConvolution(instruction);
      }
    }
    const Opcode opcode = computation_[root].opcode();
    const bool only_product =
        members_.size() == 1 &&
        (opcode == Opcode::kDot || opcode == Opcode::kConvolution);
    if (!only_product) features_[kLibraryBytes] += BoundaryBytes(root);
    AddFarBytes(root);
    return features_;
  }

  XlaCpuFeatures Single(InstructionId id) {
    const Instruction& instruction = computation_[id];
    switch (instruction.opcode()) {
      case Opcode::kDot:
        AddOtherDot(instruction);
        AddFarBytes(id);
        break;
      case Opcode::kConvolution:
        features_[kConvolutions] += 1;
        AddConvolution(instruction);
        break;
      case Opcode::kReduce:
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
      case Opcode::kMap: {
        features_[kKernels] += 1;
        double window = 1;
        if (instruction.attributes().window != nullptr) {
          for (const auto& d : *instruction.attributes().window) {
            window *= static_cast<double>(d.size);
          }
        }
        const double elements =
            instruction.opcode() == Opcode::kReduce
                ? Elements(Operand(instruction, 0))
                : static_cast<double>(LeafElements(instruction.shape())) *
                      window;
        features_[kOtherReduced] += elements;
        break;
      }
      case Opcode::kScatter:
        features_[kKernels] += 1;
        features_[kScattered] +=
            Elements(Operand(instruction, instruction.operand_count() - 1));
        features_[kCopiedBytes] += 2 * Bytes(instruction.shape());
        break;
      case Opcode::kSort: {
        features_[kKernels] += 1;
        const double n = Elements(Operand(instruction, 0));
        features_[kSorted] += n * std::max(1.0, std::log2(n));
        break;
      }
      case Opcode::kWhile:
        features_[kKernels] += 1;
        features_[kIterations] += hlo::KnownTripCount(instruction);
        break;
      case Opcode::kCall:
      case Opcode::kConditional:
        features_[kKernels] += 1;
        break;
      default:
        features_[kKernels] += 1;
        features_[kOtherBytes] += BoundaryBytes(id);
    }
    return features_;
  }

 private:
  const Shape& Operand(const Instruction& instruction, size_t i) const {
    return computation_[instruction.operand(i)].shape();
  }

  void AddDot(const Instruction& dot) {
    const DotSizes sizes = SizesOf(computation_, dot);
    features_[kLibraryDotFlops] +=
        2 * sizes.batch * sizes.m * sizes.n * sizes.k;
    features_[kLibraryDotBytes] += BytesOf(dot);
    features_[kLibraryDotBatches] += sizes.batch;
    const auto& dims = dot.attributes().dot;
    const Shape& rhs = Operand(dot, 1);
    if (dims != nullptr && !dims->rhs_contracting.empty() &&
        dims->rhs_contracting[0] == rhs.rank() - 1) {
      features_[kLibraryRightTransposedBytes] += Bytes(rhs);
    }
  }

  void AddOtherDot(const Instruction& dot) {
    const DotSizes sizes = SizesOf(computation_, dot);
    const double flops = 2 * sizes.batch * sizes.m * sizes.n * sizes.k;
    if (sizes.m == 1 || sizes.n == 1) {
      features_[kVectorDots] += 1;
      features_[kVectorDotFlops] += flops;
      return;
    }
    features_[kOtherDots] += 1;
    features_[kOtherDotFlops] += flops;
    features_[kOtherDotBytes] += BytesOf(dot);
    features_[kOtherDotBatches] += sizes.batch;
  }

  // Of both operands and the result.
  double BytesOf(const Instruction& product) const {
    return Bytes(Operand(product, 0)) + Bytes(Operand(product, 1)) +
           Bytes(product.shape());
  }

  void AddReduction(const Instruction& reduction) {
    features_[kReducedResults] += Elements(reduction.shape());
  }

  void AddConvolution(const Instruction& convolution) {
    const auto& dims = convolution.attributes().convolution;
    if (dims == nullptr) return;
    // Multiply-adds with padding, which library calls do not leave out.
    const Shape& kernel = Operand(convolution, 1);
    const double outputs = Elements(convolution.shape());
    const double per_output =
        Elements(kernel) /
        std::max<double>(
            static_cast<double>(kernel.dimension(dims->kernel_output_feature)),
            1);
    const double flops = 2 * outputs * per_output;
    if (IsPointwise(computation_, convolution)) {
      features_[kLibraryDotFlops] += flops;
      features_[kLibraryDotBytes] += BytesOf(convolution);
      features_[kLibraryDotBatches] += 1;
      return;
    }
    const bool grouped =
        dims->feature_group_count > 1 || dims->batch_group_count > 1;
    features_[grouped ? kGroupedConvolutionFlops : kConvolutionFlops] += flops;
    features_[kConvolutionBytes] += BytesOf(convolution);
  }

  // Calls `visit` with the bytes of the result and of each operand.
  template <typename Visitor>
  void VisitBoundary(InstructionId root, Visitor visit) const {
    IdMap<bool> skip;
    for (InstructionId id : members_) skip[id] = true;
    visit(Bytes(computation_[root].shape()));
    for (InstructionId id : members_) {
      for (InstructionId operand : computation_[id].operands()) {
        if (std::exchange(skip[operand], true)) continue;
        visit(Bytes(computation_[operand].shape()));
      }
    }
  }

  double BoundaryBytes(InstructionId root) const {
    double sum = 0;
    VisitBoundary(root, [&](double bytes) { sum += bytes; });
    return sum;
  }

  void AddFarBytes(InstructionId root) {
    VisitBoundary(root, [&](double bytes) {
      if (bytes > kNearBytes) features_[kFarBytes] += bytes;
      if (bytes > kSharedBytes) features_[kMemoryBytes] += bytes;
    });
  }

  const Module& module_;
  const Computation& computation_;
  const absl::Span<const InstructionId> members_;
  XlaCpuFeatures features_{};
};

// A fusion of the module, by what it calls.
XlaCpuFeatures FusionFeatures(const Module& module, const Instruction& fusion) {
  const Computation& fused = module.computation(fusion.called()[0]);
  std::vector<InstructionId> members;
  for (const Instruction& i : fused.instructions()) {
    if (i.opcode() == Opcode::kParameter) continue;
    members.push_back(i.id());
  }
  KernelCosts costs(module, fused, members);
  const Opcode root = fused[fused.root()].opcode();
  if (fusion.attributes().fusion_kind == "kCustom") {
    return costs.Library(fused.root());
  }
  // A wrapper of an instruction that is no loop.
  const bool is_loop =
      IsLoopFusible(fused, fused[fused.root()]) || root == Opcode::kTuple;
  return is_loop ? costs.Loop(fused.root()) : costs.Single(fused.root());
}

// The features of a module's computations, callees first.
class ModuleCosts {
 public:
  explicit ModuleCosts(const Module& module) : module_(module) {}

  XlaCpuFeatures Of(ComputationId id) {
    const Computation& computation = module_.computation(id);
    XlaCpuFeatures sum{};
    for (const XlaCpuKernel& kernel :
         GroupXlaCpuKernels(module_, computation)) {
      Add(FeaturesOf(module_, computation, kernel), 1, sum);
      if (kernel.kind != XlaCpuKernelKind::kSingle) continue;
      AddCalled(computation[kernel.root], sum);
    }
    return sum;
  }

 private:
  static void Add(const XlaCpuFeatures& features, double times,
                  XlaCpuFeatures& sum) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += times * features[i];
  }

  void AddCalled(const Instruction& instruction, XlaCpuFeatures& sum) {
    switch (instruction.opcode()) {
      case Opcode::kAsyncStart:
      case Opcode::kCall:
        Add(Of(instruction.called()[0]), 1, sum);
        return;
      case Opcode::kWhile: {
        const double count = hlo::KnownTripCount(instruction);
        for (ComputationId called : instruction.called()) {
          XlaCpuFeatures features = Of(called);
          // New memory costs the most where it is touched first.
          features[kMemoryBytes] /= std::max(count, 1.0);
          Add(features, count, sum);
        }
        return;
      }
      case Opcode::kConditional: {
        XlaCpuFeatures slowest{};
        for (ComputationId branch : instruction.called()) {
          const XlaCpuFeatures features = Of(branch);
          if (XlaCpuNs(features) > XlaCpuNs(slowest)) slowest = features;
        }
        Add(slowest, 1, sum);
        return;
      }
      default:
        return;
    }
  }

  const Module& module_;
};

}  // namespace

absl::Span<const absl::string_view> XlaCpuFeatureNames() {
  static constexpr absl::string_view kNames[] = {
#define HONE_XLA_CPU_FEATURE(enumerator, name, ns) name,
#include "costmodels/xla_cpu_features.def"
#undef HONE_XLA_CPU_FEATURE
  };
  return kNames;
}

XlaCpuFeatures FeaturesOf(const Module& module, const Computation& computation,
                          const XlaCpuKernel& kernel) {
  const Instruction& root = computation[kernel.root];
  if (root.opcode() == Opcode::kFusion) return FusionFeatures(module, root);
  KernelCosts costs(module, computation, kernel.members);
  switch (kernel.kind) {
    case XlaCpuKernelKind::kLoop:
      return costs.Loop(kernel.root);
    case XlaCpuKernelKind::kLibrary:
      return costs.Library(kernel.root);
    case XlaCpuKernelKind::kSingle:
      return costs.Single(kernel.root);
    case XlaCpuKernelKind::kNone:
      break;
  }
  return {};
}

XlaCpuFeatures FeaturesOf(const Module& module) {
  return ModuleCosts(module).Of(module.entry());
}

double XlaCpuNs(const XlaCpuFeatures& features) {
  static constexpr std::array<double, kXlaCpuFeatureCount> kNs = {
#define HONE_XLA_CPU_FEATURE(enumerator, name, ns) ns,
#include "costmodels/xla_cpu_features.def"
#undef HONE_XLA_CPU_FEATURE
  };
  double sum = 0;
  for (size_t i = 0; i < kNs.size(); ++i) sum += kNs[i] * features[i];
  return sum;
}

}  // namespace hone::costmodels
