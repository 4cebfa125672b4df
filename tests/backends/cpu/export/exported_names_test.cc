#include "backends/cpu/export/exported_names.h"

#include <string>

#include "gtest/gtest.h"

namespace hone::backends {
namespace {

TEST(ExportedNames, AreThoseOfTheFile) {
  const ExportedNames names = ExportedNames::Of("some/dir.d/my-softmax.so");
  EXPECT_EQ(names.entry, "my_softmax");
  EXPECT_EQ(names.info, "my_softmax_info");
  EXPECT_EQ(names.error_message, "my_softmax_error_message");
  EXPECT_EQ(names.set_threads, "my_softmax_set_threads");
  EXPECT_EQ(names.ffi, "my_softmax_ffi");
  EXPECT_EQ(names.guard, "HONE_my_softmax_H_");
}

std::string EntryOf(const char* path) { return ExportedNames::Of(path).entry; }

TEST(ExportedNames, AreIdentifiersOfC) {
  EXPECT_EQ(EntryOf("softmax-8x8.f32.so"), "softmax_8x8_f32");
  EXPECT_EQ(EntryOf("2mm.so"), "kernel_2mm");
  EXPECT_EQ(EntryOf("_x.so"), "kernel__x");
  EXPECT_EQ(EntryOf("dir/.so"), "kernel");
  EXPECT_EQ(EntryOf("\xce\xb5.so"), "kernel___");
}

TEST(ExportedNames, AreNotTaken) {
  for (const char* name : {"int", "class", "xor", "NAN", "linux", "main",
                           "write", "expf", "size_t", "hone_entry", "hone"}) {
    EXPECT_EQ(EntryOf((std::string(name) + ".so").c_str()),
              std::string("kernel_") + name);
  }
}

TEST(ExportedNames, DifferByCase) {
  EXPECT_NE(ExportedNames::Of("k.so").guard, ExportedNames::Of("K.so").guard);
}

}  // namespace
}  // namespace hone::backends
