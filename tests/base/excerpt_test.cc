#include "base/excerpt.h"

#include "absl/strings/str_cat.h"
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
  EXPECT_EQ(Excerpt(std::string(81, 'x')),
            absl::StrCat(std::string(80, 'x'), "…"));
}

TEST(BoundedMessage, ShortMessagesStayAsTheyAre) {
  EXPECT_EQ(BoundedMessage(""), "");
  EXPECT_EQ(BoundedMessage("no task \"ä\", expected a, b"),
            "no task \"ä\", expected a, b");
}

TEST(BoundedMessage, LongWordsAreCutAndTheRestIsKept) {
  EXPECT_EQ(BoundedMessage("no \"" + std::string(5000, 'x') + "\" here"),
            "no \"" + std::string(79, 'x') + "… here");
  // At the end of a character.
  std::string word = "x";
  for (int i = 0; i < 200; ++i) word += "ä";
  const std::string cut = BoundedMessage(word);
  EXPECT_EQ(cut, word.substr(0, 79) + "…");
}

TEST(BoundedMessage, ManyWordsAreCut) {
  std::string words;
  for (int i = 0; i < 2000; ++i) words += "word ";
  const std::string cut = BoundedMessage(words);
  EXPECT_LE(cut.size(), 2003);
  EXPECT_EQ(cut.substr(0, 1000), words.substr(0, 1000));
  EXPECT_EQ(cut.substr(cut.size() - 3), "…");
}

TEST(BoundedMessage, IsOneLine) {
  EXPECT_EQ(BoundedMessage(std::string("a\nb\r\0c\x7f"
                                       "d",
                                       8)),
            "a b  c d");
}

}  // namespace
}  // namespace hone
