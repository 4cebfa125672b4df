#include "backends/cpu/export/exported_names.h"

#include "gtest/gtest.h"

namespace hone::backends {
namespace {

TEST(ExportedNames, AreThoseOfTheFile) {
  const ExportedNames names = ExportedNames::Of("some/dir.d/softmax.so");
  EXPECT_EQ(names.entry, "softmax_entry");
  EXPECT_EQ(names.set_threads, "softmax_set_threads");
  EXPECT_EQ(names.guard, "HONE_softmax_H_");
}

TEST(ExportedNames, AreIdentifiersOfC) {
  const auto entry = [](const char* path) {
    return ExportedNames::Of(path).entry;
  };
  EXPECT_EQ(entry("softmax-8x8.f32.so"), "softmax_8x8_f32_entry");
  EXPECT_EQ(entry("2mm.so"), "kernel_2mm_entry");
  EXPECT_EQ(entry("_x.so"), "kernel__x_entry");
  EXPECT_EQ(entry("int.so"), "int_entry");
  EXPECT_EQ(entry("dir/.so"), "kernel_entry");
  EXPECT_EQ(entry("\xce\xb5.so"), "kernel____entry");
}

TEST(ExportedNames, DifferByCase) {
  EXPECT_NE(ExportedNames::Of("k.so").guard, ExportedNames::Of("K.so").guard);
}

}  // namespace
}  // namespace hone::backends
