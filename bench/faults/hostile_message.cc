#include "bench/faults/hostile_message.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include "bench/faults/modules.h"

namespace hone::bench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string HostileString(Rng& rng) {
  switch (rng.Below(12)) {
    case 0:
      return "";
    case 1:
      return std::string(1 << rng.Below(17), 'x');
    case 2:
      return absl::StrCat("projects/default/tunings/", rng.Next());
    case 3:
      return "projects/default/environments/../../etc/passwd";
    case 4:
      return std::string("\0\n\x1b[2J", 6);
    case 5:
      return "pass_order";
    case 6:
      return "kernel";
    case 7:
      return NumberedModule(static_cast<int64_t>(rng.Below(5)));
    case 8:
      return "HloModule m\n\nENTRY e {\n  x = f32[100000000000] "
             "parameter(0)\n  ROOT y = f32[100000000000] add(x, x)\n}\n";
    case 9:
      return "HloModule m\n\nENTRY e {" + std::string(10'000, '{');
    case 10:
      return std::string(64, static_cast<char>('a' + rng.Below(6)));
    default: {
      std::string bytes;
      for (uint64_t n = rng.Below(200); n > 0; --n) {
        bytes += static_cast<char>(rng.Below(256));
      }
      return bytes;
    }
  }
}

int64_t HostileInteger(Rng& rng) {
  constexpr std::array<int64_t, 9> kEnds = {0,
                                            1,
                                            -1,
                                            std::numeric_limits<int32_t>::max(),
                                            std::numeric_limits<int32_t>::min(),
                                            std::numeric_limits<int64_t>::max(),
                                            std::numeric_limits<int64_t>::min(),
                                            1'000'000,
                                            63};
  return kEnds[rng.Below(kEnds.size())];
}

double HostileNumber(Rng& rng) {
  constexpr std::array<double, 6> kEnds = {
      0,
      -1,
      1e308,
      std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN()};
  return kEnds[rng.Below(kEnds.size())];
}

// UTF-8, which proto3 strings have to be: others are not parsed at all.
std::string AsText(std::string bytes) {
  for (char& c : bytes) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return bytes;
}

void Fill(Message& message, Rng& rng, int depth);

void SetField(Message& message, const FieldDescriptor& field, Rng& rng,
              int depth) {
  const Reflection& reflection = *message.GetReflection();
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value = static_cast<int32_t>(HostileInteger(rng));
      many ? reflection.AddInt32(&message, &field, value)
           : reflection.SetInt32(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const int64_t value = HostileInteger(rng);
      many ? reflection.AddInt64(&message, &field, value)
           : reflection.SetInt64(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      const auto value = static_cast<uint32_t>(HostileInteger(rng));
      many ? reflection.AddUInt32(&message, &field, value)
           : reflection.SetUInt32(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      const auto value = static_cast<uint64_t>(HostileInteger(rng));
      many ? reflection.AddUInt64(&message, &field, value)
           : reflection.SetUInt64(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double value = HostileNumber(rng);
      many ? reflection.AddDouble(&message, &field, value)
           : reflection.SetDouble(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const auto value = static_cast<float>(HostileNumber(rng));
      many ? reflection.AddFloat(&message, &field, value)
           : reflection.SetFloat(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      const bool value = rng.Below(2) == 0;
      many ? reflection.AddBool(&message, &field, value)
           : reflection.SetBool(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value = static_cast<int>(rng.Below(7)) - 1;
      many ? reflection.AddEnumValue(&message, &field, value)
           : reflection.SetEnumValue(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string value = HostileString(rng);
      if (field.type() == FieldDescriptor::TYPE_STRING) value = AsText(value);
      many ? reflection.AddString(&message, &field, value)
           : reflection.SetString(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      Fill(many ? *reflection.AddMessage(&message, &field)
                : *reflection.MutableMessage(&message, &field),
           rng, depth + 1);
      break;
  }
}

void Fill(Message& message, Rng& rng, int depth) {
  if (depth > 6) return;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    // Now and then nothing, and now and then far too much.
    if (rng.Below(3) == 0) continue;
    uint64_t count = 1;
    if (field.is_repeated()) {
      count = rng.Below(16) == 0 && depth == 0 ? 20'000 : rng.Below(4);
    }
    for (uint64_t k = 0; k < count; ++k) SetField(message, field, rng, depth);
  }
}

}  // namespace

std::string HostileMessage(const google::protobuf::Descriptor& type, Rng& rng) {
  if (rng.Below(20) == 0) return HostileString(rng);
  if (rng.Below(20) == 0) return "";
  const std::unique_ptr<Message> message(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(&type)
          ->New());
  Fill(*message, rng, 0);
  return message->SerializeAsString();
}

}  // namespace hone::bench
