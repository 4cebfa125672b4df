#include "learning/networks/archive_check.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <zlib.h>

namespace hone::learning {
namespace {

// Source of the layout: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification",
// 6.3, sections 4.3.7, 4.3.12 and 4.3.16. Archives of 4 GiB or more (ZIP64)
// are not read.
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr size_t kEndSize = 22;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr size_t kEntrySize = 46;
constexpr uint32_t kFileSignature = 0x04034b50;
constexpr size_t kFileSize = 30;

// Methods of compression. Torch deflates its code, which is small, and stores
// tensors as they are.
constexpr uint32_t kStored = 0;
constexpr uint32_t kDeflated = 8;
constexpr size_t kMaxDeflated = 1 << 20;

uint32_t Crc32(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Returns the `size` bytes that `deflated` stands for, or nothing.
std::optional<std::string> Inflate(absl::string_view deflated, size_t size) {
  if (size > kMaxDeflated || deflated.size() > kMaxDeflated) {
    return std::nullopt;
  }
  z_stream stream = {};
  // Without zlib's own header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  std::string bytes(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data()));
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(size);
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) return std::nullopt;
  return bytes;
}

// A little-endian number of `width` bytes, which are there.
uint32_t Number(absl::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = width; i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  }
  return value;
}

// Returns `size` bytes from `at` on, if they are there.
std::optional<absl::string_view> Part(absl::string_view bytes, size_t at,
                                      size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.substr(at, size);
}

}  // namespace

bool IsIntactArchive(absl::string_view bytes) {
  // Torch writes no comment behind the end.
  if (bytes.size() < kEndSize) return false;
  const absl::string_view end = bytes.substr(bytes.size() - kEndSize);
  if (Number(end, 0, 4) != kEndSignature) return false;
  size_t at = Number(end, 16, 4);
  for (uint32_t left = Number(end, 10, 2); left > 0; --left) {
    const auto entry = Part(bytes, at, kEntrySize);
    if (!entry || Number(*entry, 0, 4) != kEntrySignature) return false;
    // With the attribute or the name of a folder, Torch takes whatever is in
    // memory for the content.
    const size_t name_size = Number(*entry, 28, 2);
    const auto name = Part(bytes, at + kEntrySize, name_size);
    if (!name || name->empty() || name->back() == '/' ||
        Number(*entry, 38, 4) != 0) {
      return false;
    }
    const size_t file_at = Number(*entry, 42, 4);
    const auto file = Part(bytes, file_at, kFileSize);
    if (!file || Number(*file, 0, 4) != kFileSignature ||
        Number(*file, 26, 2) != name_size ||
        Part(bytes, file_at + kFileSize, name_size) != name) {
      return false;
    }
    const auto stored =
        Part(bytes,
             file_at + kFileSize + Number(*file, 26, 2) + Number(*file, 28, 2),
             Number(*entry, 20, 4));
    if (!stored) return false;
    const uint32_t method = Number(*entry, 10, 2);
    const size_t size = Number(*entry, 24, 4);
    uint32_t checksum = 0;
    if (method == kStored && stored->size() == size) {
      checksum = Crc32(*stored);
    } else if (method == kDeflated) {
      const std::optional<std::string> content = Inflate(*stored, size);
      if (!content) return false;
      checksum = Crc32(*content);
    } else {
      return false;
    }
    if (checksum != Number(*entry, 16, 4)) return false;
    at +=
        kEntrySize + name_size + Number(*entry, 30, 2) + Number(*entry, 32, 2);
  }
  return true;
}

}  // namespace hone::learning
