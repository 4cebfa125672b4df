#include "hlo/read_module.h"

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/proto/io.h"
#include "hlo/text/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr absl::string_view kText =
    "HloModule m\ne {\n  a = f32[] parameter(0)\n  b = f32[] negate(a)\n}\n";

std::string WriteFile(const std::string& name, absl::string_view bytes) {
  std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// A corpus module as it is stored, compressed.
std::string Archive() {
  std::ifstream file(testing::CorpusPath("mlp.fwd"), std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST(ReadModuleFile, ReadsTextAndProtoByContent) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseHloText(std::string(kText)));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string proto, SerializeHloProto(module));
  for (const std::string& bytes : {std::string(kText), proto}) {
    HONE_ASSERT_OK_AND_ASSIGN(const Module read,
                              ReadModuleFile(WriteFile("module", bytes)));
    EXPECT_EQ(Fingerprint(read), Fingerprint(module));
  }
}

TEST(ReadFileBytes, DecompressesEveryFrameByContent) {
  const std::string archive = Archive();
  HONE_ASSERT_OK_AND_ASSIGN(const std::string text,
                            ReadFileBytes(WriteFile("one", archive)));
  EXPECT_THAT(text, ::testing::StartsWith("HloModule "));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string twice,
                            ReadFileBytes(WriteFile("two", archive + archive)));
  EXPECT_EQ(twice, text + text);
}

TEST(ReadModuleFile, EveryCorpusModuleVerifies) {
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    HONE_EXPECT_OK(ReadModuleFile(testing::CorpusPath(entry.name)));
  }
}

TEST(ReadModuleFile, ErrorsNameTheFile) {
  const std::string missing = ::testing::TempDir() + "/missing.hlo";
  EXPECT_THAT(ReadModuleFile(missing),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(missing)));
  EXPECT_THAT(ReadModuleFile(::testing::TempDir()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(::testing::TempDir())));
  const std::string bad = WriteFile("bad.hlo", "HloModule m\n\ne { a = }");
  EXPECT_THAT(ReadModuleFile(bad),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(bad + ":3:9: found '}'")));
  const std::string unverified =
      WriteFile("unverified.hlo",
                "HloModule m\ne {\n  a = f32[2] parameter(0)\n"
                "  b = f32[3] negate(a)\n}\n");
  EXPECT_THAT(ReadModuleFile(unverified),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(unverified), HasSubstr("f32[3]"))));
}

TEST(ReadModuleFile, BrokenArchivesAreErrors) {
  const std::string archive = Archive();
  EXPECT_THAT(ReadModuleFile(
                  WriteFile("cut.zst", archive.substr(0, archive.size() - 3))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cut.zst: the compressed data is cut off")));
  std::string broken = archive;
  broken[broken.size() / 2] ^= 0x7f;
  EXPECT_THAT(
      ReadModuleFile(WriteFile("broken.zst", broken)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("broken.zst")));
}

}  // namespace
}  // namespace hone::hlo
