#include "learning/networks/encoder_options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(EncoderOptions, AreReadAsPrinted) {
  const EncoderOptions options = {.width = 32,
                                  .layers = 2,
                                  .aggregator = Aggregator::kAttention,
                                  .segment = 128,
                                  .conditioning = true};
  HONE_ASSERT_OK_AND_ASSIGN(const EncoderOptions read,
                            ParseEncoderOptions(PrintEncoderOptions(options)));
  EXPECT_EQ(read, options);
  HONE_ASSERT_OK_AND_ASSIGN(const EncoderOptions none, ParseEncoderOptions(""));
  EXPECT_EQ(none, EncoderOptions{});
}

TEST(EncoderOptions, RefuseWhatIsNone) {
  for (const auto& [text, message] :
       {std::pair{"width=30", "width is '30', expected a multiple of 4"},
        {"layers=99", "from 0 to 16"},
        {"aggregator=median", "mean, sum, max or attention"},
        {"depth=3", "unknown option 'depth'"},
        {"conditioning=yes", "conditioning is 'yes'"}}) {
    EXPECT_THAT(
        ParseEncoderOptions(text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

}  // namespace
}  // namespace hone::learning
