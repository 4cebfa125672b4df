#include "storage/candidate_coder.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <zstd.h>

#include "base/status_macros.h"

namespace hone::storage {
namespace {

// The first byte: stable values, they are in databases. After it come
// variable-length integers, all choices or, for edits, pairs of the number of
// choices kept and the next new one; compressed as one Zstandard frame or not.
enum Form : char {
  kPlain = 0,
  kCompressed = 1,
  kEdits = 2,
  kCompressedEdits = 3,
};

// Shorter bytes are not worth the frame around them.
constexpr size_t kMinCompressed = 64;
// Edits so short are taken without a look at the alternative.
constexpr size_t kShortEdits = 512;
// Guards against allocating what a corrupt size says.
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

void AppendInteger(uint32_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
}

std::optional<uint32_t> TakeInteger(absl::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (value > UINT32_MAX) return std::nullopt;
      return static_cast<uint32_t>(value);
    }
  }
  return std::nullopt;
}

std::string EditBytes(absl::Span<const int32_t> from,
                      absl::Span<const int32_t> to) {
  std::string bytes;
  uint32_t kept = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (from[i] == to[i]) {
      ++kept;
      continue;
    }
    AppendInteger(std::exchange(kept, 0), bytes);
    AppendInteger(static_cast<uint32_t>(to[i]), bytes);
  }
  return bytes;
}

// Returns the form and the bytes, compressed if that is shorter.
std::string Pack(std::string bytes, Form plain, Form compressed) {
  if (bytes.size() >= kMinCompressed) {
    std::string frame(1 + ZSTD_compressBound(bytes.size()), compressed);
    const size_t size =
        ZSTD_compress(frame.data() + 1, frame.size() - 1, bytes.data(),
                      bytes.size(), ZSTD_CLEVEL_DEFAULT);
    if (ZSTD_isError(size) == 0 && size < bytes.size()) {
      frame.resize(1 + size);
      return frame;
    }
  }
  bytes.insert(bytes.begin(), plain);
  return bytes;
}

absl::Status Corrupt() {
  return absl::DataLossError("the bytes of a candidate are corrupt");
}

absl::StatusOr<std::string> Decompress(absl::string_view frame) {
  const uint64_t size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  // Errors are numbers above any size.
  if (size > kMaxBytes) return Corrupt();
  std::string bytes(static_cast<size_t>(size), '\0');
  const size_t actual =
      ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (actual != bytes.size()) return Corrupt();
  return bytes;
}

}  // namespace

std::string PlainBytes(absl::Span<const int32_t> choices) {
  std::string bytes;
  bytes.reserve(choices.size());
  for (const int32_t choice : choices) {
    AppendInteger(static_cast<uint32_t>(choice), bytes);
  }
  return bytes;
}

std::string CandidateCoder::Encode(const space::Candidate& candidate) {
  const std::vector<int32_t>& choices = candidate.choices;
  std::optional<std::string> edits;
  if (!last_.choices.empty() && edited_ < kMaxEdited &&
      last_.choices.size() == choices.size()) {
    edits = Pack(EditBytes(last_.choices, choices), kEdits, kCompressedEdits);
  }
  std::string result;
  if (!edits || edits->size() > kShortEdits) {
    result = Pack(PlainBytes(choices), kPlain, kCompressed);
  }
  const bool is_edited =
      edits && (result.empty() || edits->size() < result.size());
  Advance(candidate, is_edited);
  return is_edited ? *std::move(edits) : result;
}

absl::StatusOr<space::Candidate> CandidateCoder::Decode(
    absl::string_view bytes) {
  if (bytes.empty()) return Corrupt();
  const char form = bytes.front();
  bytes.remove_prefix(1);
  std::string decompressed;
  if (form == kCompressed || form == kCompressedEdits) {
    HONE_ASSIGN_OR_RETURN(decompressed, Decompress(bytes));
    bytes = decompressed;
  }
  space::Candidate candidate;
  const bool is_edited = form == kEdits || form == kCompressedEdits;
  if (is_edited) {
    if (last_.choices.empty()) return Corrupt();
    candidate = last_;
    size_t at = 0;
    for (; !bytes.empty(); ++at) {
      const std::optional<uint32_t> kept = TakeInteger(bytes);
      const std::optional<uint32_t> choice = TakeInteger(bytes);
      if (!kept || !choice) return Corrupt();
      at += *kept;
      if (at >= candidate.choices.size()) return Corrupt();
      candidate.choices[at] = static_cast<int32_t>(*choice);
    }
  } else if (form == kPlain || form == kCompressed) {
    candidate.choices.reserve(bytes.size());
    while (!bytes.empty()) {
      const std::optional<uint32_t> choice = TakeInteger(bytes);
      if (!choice) return Corrupt();
      candidate.choices.push_back(static_cast<int32_t>(*choice));
    }
  } else {
    return Corrupt();
  }
  Advance(candidate, is_edited);
  return candidate;
}

void CandidateCoder::Skip() {
  last_ = {};
  edited_ = 0;
}

bool CandidateCoder::IsEdited(absl::string_view bytes) {
  return !bytes.empty() &&
         (bytes.front() == kEdits || bytes.front() == kCompressedEdits);
}

void CandidateCoder::Advance(const space::Candidate& candidate,
                             bool is_edited) {
  if (candidate.choices.size() < kMinEdited) return Skip();
  last_ = candidate;
  edited_ = is_edited ? edited_ + 1 : 0;
}

}  // namespace hone::storage
