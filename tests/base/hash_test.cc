#include "base/hash.h"

#include <set>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone {
namespace {

// Vectors of FIPS 180-2, appendix B, and of the empty message.
TEST(Sha256Hex, KnownVectors) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

// XXH3_128bits of the empty input with seed 0, from the xxHash specification's
// reference output.
TEST(FastHash, KnownVector) {
  const Hash128 hash = FastHash("");
  EXPECT_EQ(hash.high, 0x99aa06d3014798d8u);
  EXPECT_EQ(hash.low, 0x6001c324468d497fu);
}

TEST(FastHash, TellsInputsApart) {
  absl::flat_hash_set<Hash128> hashes;
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(hashes.insert(FastHash(text)).second) << i;
    text.push_back('\0');
  }
  EXPECT_EQ(FastHash("hone"), FastHash(std::string("hone")));
}

TEST(RandomUuid, IsAVersion4UuidAndNew) {
  std::set<std::string> uuids;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = RandomUuid();
    EXPECT_THAT(uuid,
                ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                                        "[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(uuids.insert(uuid).second);
  }
}

}  // namespace
}  // namespace hone
