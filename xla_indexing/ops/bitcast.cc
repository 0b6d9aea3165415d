// Bitcast: the bits of the result are those of the operand, in the order of memory that the layouts
// give. Elements of equal width keep their places in that order, so that a bitcast is a transpose
// to the physical order, a reshape and a transpose from the physical order. Where the widths
// differ, an element that is k times as wide stands where k narrow ones stand, which makes k a
// further, most minor dimension of the array of wide elements.
//
// Bitcast-convert: the same on the logical indices, where the further dimension is the last one of
// the shape with the narrow elements.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/layout.h"
#include "xla_indexing/ops/builders.h"
#include "xla_indexing/ops/reshape_indices.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;
using Indices = llvm::SmallVector<AffineExpr, 4>;
using SizeVector = llvm::SmallVector<int64_t, 4>;

// The dimensions, the most major first, and the sizes in that order.
struct PhysicalArray {
  SizeVector major_to_minor;
  SizeVector sizes;
  int64_t count = 0;
  int64_t bits = 0;  // Of an element.
};

int64_t BitsOfElement(const Shape& shape, const Layout& layout) {
  return layout.element_size_in_bits > 0 ? layout.element_size_in_bits
                                         : StorageBitWidth(shape.element_type());
}

// Whether the layout is an order of the dimensions and nothing else that moves elements.
bool IsOrderOfDimensions(const Layout& layout) {
  return layout.tiles.empty() && layout.dim_levels.empty() && layout.physical_shape == nullptr &&
         layout.split_configs.empty();
}

PhysicalArray Physical(const Shape& shape) {
  const Layout layout = shape.LayoutOrRowMajor();
  PhysicalArray array;
  array.major_to_minor.assign(layout.minor_to_major.rbegin(), layout.minor_to_major.rend());
  for (const int64_t dim : array.major_to_minor) array.sizes.push_back(shape.dimension(dim));
  const auto count = shape.ElementCount();
  array.count = count.ok() ? *count : -1;
  array.bits = BitsOfElement(shape, layout);
  return array;
}

OperandIndexing BitcastMap(const Shape& from, const Shape& to, mlir::MLIRContext* context) {
  const Layout from_layout = from.LayoutOrRowMajor();
  const Layout to_layout = to.LayoutOrRowMajor();
  if (SameDimensions(from, to) && from_layout.minor_to_major == to_layout.minor_to_major &&
      from_layout.tiles == to_layout.tiles &&
      BitsOfElement(from, from_layout) == BitsOfElement(to, to_layout)) {
    return IdentityIndexing(from, context);
  }
  const auto whole = [&](absl::string_view reason) {
    return WholeTensorIndexing(from, to, absl::StrCat("whole tensor: ", reason), context);
  };
  if (!IsOrderOfDimensions(from_layout) || !IsOrderOfDimensions(to_layout)) {
    return whole("a bitcast between tiled layouts");
  }
  PhysicalArray source = Physical(from);
  PhysicalArray target = Physical(to);
  if (source.count < 0 || target.count < 0) return whole("a bitcast of sizes that have no bound");

  MapBuilder builder(from, to, context);
  Indices logical(to.rank(), builder.Value(0));
  if (source.count == 0) return builder.Build(logical);  // The domain is empty.

  Indices indices;
  for (const int64_t dim : source.major_to_minor) indices.push_back(builder.Dim(dim));
  // The wide elements are arrays of narrow ones.
  if (source.bits > target.bits && source.bits % target.bits == 0) {
    const int64_t ratio = source.bits / target.bits;
    indices.push_back(builder.AddRangeOverAxis(ratio));
    source.sizes.push_back(ratio);
    if (target.count % ratio != 0 || target.count / ratio != source.count) {
      return whole("a bitcast that changes the number of bits");
    }
  } else if (target.bits > source.bits && target.bits % source.bits == 0) {
    const int64_t ratio = target.bits / source.bits;
    target.sizes.push_back(ratio);
    if (source.count % ratio != 0 || source.count / ratio != target.count) {
      return whole("a bitcast that changes the number of bits");
    }
  } else if (source.bits != target.bits || source.count != target.count) {
    return whole("a bitcast that changes the number of bits");
  }
  const Indices physical = ReshapeIndices(indices, source.sizes, target.sizes, builder);
  for (int64_t i = 0; i < to.rank(); ++i) logical[target.major_to_minor[i]] = physical[i];
  return builder.Build(logical);
}

OperandIndexing BitcastConvertMap(const Shape& from, const Shape& to, mlir::MLIRContext* context) {
  MapBuilder builder(from, to, context);
  Indices indices;
  for (int64_t i = 0; i < to.rank(); ++i) {
    indices.push_back(i < from.rank() ? builder.Dim(i) : builder.AddRangeOverAxis(to.dimension(i)));
  }
  return builder.Build(indices);
}

}  // namespace

void BitcastOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, BitcastMap(build.Output(), build.Operand(0), build.mlir_context));
}

void BitcastInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  build.Add(operand, BitcastMap(build.Operand(operand), build.Output(), build.mlir_context));
}

void BitcastConvertOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, BitcastConvertMap(build.Output(), build.Operand(0), build.mlir_context));
}

void BitcastConvertInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  build.Add(operand, BitcastConvertMap(build.Operand(operand), build.Output(), build.mlir_context));
}

}  // namespace xla_indexing
