#ifndef HONE_TESTS_HLO_REWRITE_ENTRY_MODULE_H_
#define HONE_TESTS_HLO_REWRITE_ENTRY_MODULE_H_

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "hlo/ir/module.h"
#include "hlo/text/parser.h"

namespace hone::hlo {

// A module whose entry computation has these instructions, after the
// computations of `before`.
inline Module EntryModule(absl::string_view body,
                          absl::string_view before = "") {
  absl::StatusOr<Module> module = ParseHloText(
      absl::StrCat("HloModule m\n", before, "ENTRY e {\n", body, "\n}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : Module();
}

// The instruction of the entry computation with that name.
inline InstructionId Find(const Module& module, absl::string_view name) {
  for (const Instruction& i : module.entry_computation().instructions()) {
    if (i.name() == name) return i.id();
  }
  ADD_FAILURE() << "no instruction " << name;
  return kNoInstruction;
}

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_REWRITE_ENTRY_MODULE_H_
