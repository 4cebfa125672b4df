#ifndef HONE_TESTS_HLO_FUSION_SUPPORT_H_
#define HONE_TESTS_HLO_FUSION_SUPPORT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "hlo/fusion/fusion_space.h"
#include "hlo/fusion/kernels.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// The module of that text, verified; fails the test if it is none.
Module VerifiedModule(absl::string_view text);

// Small modules, with every rule of KernelRules in reach.
const std::vector<std::string>& SmallModules();

// The decision that fuses exactly the instructions of these names.
FusionBits FuseNodes(const FusionSpace& space,
                     const std::vector<std::string>& names);
// The node of that name; fails the test if there is none.
FusionIndex NodeNamed(const FusionSpace& space, absl::string_view name);

// A random legal decision, and random layouts.
FusionBits RandomFusion(const FusionSpace& space, Rng& rng);
LayoutBits RandomLayouts(const FusionSpace& space, Rng& rng);

// `module` with a call of a kernel in the place of each instruction that has
// one.
Module ComposeOfKernels(const Module& module, absl::Span<const Kernel> kernels);

// A made-up time of a kernel, a whole number: what it reads and writes, a
// start, and a little for each instruction and each kind of opcode.
double MadeUpTime(const Module& kernel);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_FUSION_SUPPORT_H_
