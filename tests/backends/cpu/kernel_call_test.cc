#include "backends/cpu/kernel_call.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/kernel_runtime.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;

// An entry without arrays.
hone_kernel_entry EntryOf(void (*run)(const void* const*, void* const*)) {
  static int32_t is_checked = 0;
  hone_kernel_entry entry = {};
  entry.info.name = "test";
  entry.run = run;
  entry.is_checked = &is_checked;
  return entry;
}

TEST(KernelCall, AStepThatFailsInABodyFailsTheCall) {
  const hone_kernel_entry entry = EntryOf([](auto...) {
    hone_kernel_parallel_for(
        [](void*, int64_t begin, int64_t end) {
          if (begin <= 7 && 7 < end) hone_kernel_fail("step 7");
        },
        nullptr, 10);
    ADD_FAILURE() << "goes on after a failure";
  });
  hone_context context = HONE_CONTEXT_INIT;
  context.threads = 3;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(hone_kernel_call(&entry, &context, nullptr, nullptr),
              HONE_ERROR_LIBRARY);
    EXPECT_THAT(hone_kernel_error_message(), HasSubstr("step 7"));
  }
}

TEST(KernelCall, AllocatesFromTheWorkspaceAsAStack) {
  hone_kernel_entry entry = EntryOf([](const void* const*, void* const*) {
    void* const a = hone_kernel_allocate(100);
    void* const b = hone_kernel_allocate(64);
    EXPECT_EQ(static_cast<char*>(b) - static_cast<char*>(a), 128);
    hone_kernel_free(b);
    EXPECT_EQ(hone_kernel_allocate(1), b);
    // There is no more room: a block.
    void* const c = hone_kernel_allocate(1000);
    EXPECT_NE(c, nullptr);
    hone_kernel_free(c);
    hone_kernel_free(b);
    hone_kernel_free(a);
  });
  entry.shared_bytes = 192;
  EXPECT_EQ(hone_kernel_call(&entry, nullptr, nullptr, nullptr), HONE_OK);
}

TEST(KernelCall, NothingBesideAFullWorkspaceIsABlockOfItsOwn) {
  hone_kernel_entry entry = EntryOf([](const void* const*, void* const*) {
    auto* const all = static_cast<char*>(hone_kernel_allocate(192));
    std::fill_n(all, 192, 'a');
    auto* const nothing = static_cast<char*>(hone_kernel_allocate(0));
    EXPECT_NE(nothing, nullptr);
    EXPECT_NE(nothing, all + 192);
    hone_kernel_free(nothing);
    EXPECT_EQ(std::count(all, all + 192, 'a'), 192);
    hone_kernel_free(all);
  });
  entry.shared_bytes = 192;
  EXPECT_EQ(hone_kernel_call(&entry, nullptr, nullptr, nullptr), HONE_OK);
}

TEST(KernelCall, AFailureUndoesWhatThePartHasBegun) {
  static std::string undone;
  static void* blocks[2];
  const hone_kernel_entry entry = EntryOf([](auto...) {
    const auto note = [](void* data) { undone += static_cast<char*>(data); };
    char names[] = "a\0b\0c";
    hone_kernel_cleanup a = {note, &names[0], nullptr};
    hone_kernel_cleanup b = {note, &names[2], nullptr};
    hone_kernel_cleanup c = {note, &names[4], nullptr};
    hone_kernel_begin_cleanup(&a);
    hone_kernel_begin_cleanup(&b);
    hone_kernel_begin_cleanup(&c);
    hone_kernel_end_cleanup(&c);
    // Beyond the workspace; of sizes of which no other is kept.
    blocks[0] = hone_kernel_allocate(7'000'000);
    blocks[1] = hone_kernel_allocate(70'000'000);
    hone_kernel_free(blocks[1]);
    hone_kernel_parallel_for(
        [](void*, int64_t begin, int64_t) {
          void* const block = hone_kernel_allocate(1000);
          if (begin == 0) hone_kernel_fail("a body");
          hone_kernel_free(block);
        },
        nullptr, 4);
  });
  for (int i = 0; i < 2; ++i) {
    undone.clear();
    EXPECT_EQ(hone_kernel_call(&entry, nullptr, nullptr, nullptr),
              HONE_ERROR_LIBRARY);
    EXPECT_EQ(undone, "ba");
  }
  // Freed blocks are kept for the next who asks.
  void* const kept = hone_kernel_allocate(7'000'000);
  EXPECT_EQ(kept, blocks[0]);
  hone_kernel_free(kept);
}

TEST(KernelCall, CallsInsideOfCallsHaveTheirOwnContext) {
  static int32_t is_checked = 0;
  static hone_kernel_entry inner = {};
  inner.info.name = "inner";
  inner.is_checked = &is_checked;
  inner.shared_bytes = 64;
  inner.run = [](auto...) {
    hone_kernel_free(hone_kernel_allocate(64));
    hone_kernel_fail("inner");
  };
  const hone_kernel_entry outer = EntryOf([](auto...) {
    EXPECT_EQ(hone_kernel_call(&inner, nullptr, nullptr, nullptr),
              HONE_ERROR_LIBRARY);
  });
  EXPECT_EQ(hone_kernel_call(&outer, nullptr, nullptr, nullptr), HONE_OK);
}

TEST(KernelCall, MemoryThatDoesNotExistIsNull) {
  EXPECT_EQ(hone_kernel_allocate(INT64_MAX), nullptr);
}

TEST(KernelProcessor, HasWhatThisBuildNeeds) {
  const char* const present[] = {"sse2", "no such feature"};
  EXPECT_EQ(hone_kernel_missing_feature(present, 2), -1);
  const char* const absent[] = {"sse2", "xop", "fma4"};
  EXPECT_EQ(hone_kernel_missing_feature(absent, 3), 1);
}

}  // namespace
}  // namespace hone::backends
