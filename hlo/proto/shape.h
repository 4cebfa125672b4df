#ifndef HONE_HLO_PROTO_SHAPE_H_
#define HONE_HLO_PROTO_SHAPE_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/shape.h"

namespace hone::xla {
class ShapeProto;
}  // namespace hone::xla

namespace hone::hlo {

// Errors: InvalidArgument for an unknown element type, a layout that does not
// fit or a size that overflows.
absl::StatusOr<ShapePtr> ReadShapeProto(const xla::ShapeProto& proto);

// Writes every layout, default ones too, as XLA does.
// Errors: InvalidArgument when a layout's suffix has no place in the proto.
absl::Status WriteShapeProto(const Shape& shape, xla::ShapeProto& proto);

// Reads serialized ShapeProtos, each distinct one once: equal bytes share one
// Shape.
class ProtoShapeReader {
 public:
  absl::StatusOr<ShapePtr> Read(const std::string& bytes);

 private:
  absl::flat_hash_map<std::string, ShapePtr> shapes_;
};

// Serializes shapes, each Shape object once.
class ProtoShapeWriter {
 public:
  absl::StatusOr<const std::string*> Write(const ShapePtr& shape);

 private:
  absl::flat_hash_map<const Shape*, std::string> shapes_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_SHAPE_H_
