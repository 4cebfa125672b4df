#include "base/excerpt.h"

#include "gtest/gtest.h"

namespace hone {
namespace {

TEST(Excerpt, KeepsPrintableText) {
  EXPECT_EQ(Excerpt(""), "");
  EXPECT_EQ(Excerpt("__cublas$gemm"), "__cublas$gemm");
}

TEST(Excerpt, IsOneLineOfAscii) {
  EXPECT_EQ(Excerpt("a\nb\x1b[31m\xe9\"'"), "a\\nb\\x1b[31m\\xe9\\\"\\'");
}

TEST(Excerpt, LeavesOutTheEndOfLongText) {
  EXPECT_EQ(Excerpt(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(Excerpt(std::string(81, 'x')), std::string(80, 'x') + "…");
}

}  // namespace
}  // namespace hone
