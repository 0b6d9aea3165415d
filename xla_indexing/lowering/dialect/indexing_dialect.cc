#include "xla_indexing/lowering/dialect/indexing_dialect.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/AttributeSupport.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectImplementation.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::dialect {

// All empty maps of equally many results are equal, and one attribute of a certain number of variables.
struct MapStorage : mlir::AttributeStorage {
  using KeyTy = IndexingMap;

  explicit MapStorage(KeyTy key) : map(std::move(key)) {}

  bool operator==(const KeyTy& key) const {
    return map.num_ranges() == key.num_ranges() && map.num_runtimes() == key.num_runtimes() &&
           map == key;
  }
  static llvm::hash_code hashKey(const KeyTy& key) { return hash_value(key); }
  static MapStorage* construct(mlir::AttributeStorageAllocator& allocator, const KeyTy& key) {
    return new (allocator.allocate<MapStorage>()) MapStorage(key);
  }

  const IndexingMap map;
};

}  // namespace xla_indexing::dialect

#include "indexing_dialect.cc.inc"
#define GET_ATTRDEF_CLASSES
#include "indexing_attributes.cc.inc"
#define GET_OP_CLASSES
#include "indexing_ops.cc.inc"

namespace xla_indexing::dialect {
namespace {

struct MapAliases : mlir::OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(mlir::Attribute attribute, llvm::raw_ostream& stream) const override {
    if (!mlir::isa<IndexingMapAttr>(attribute)) return AliasResult::NoAlias;
    stream << "indexing_map";
    return AliasResult::FinalAlias;
  }
};

}  // namespace

void IndexingDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "indexing_attributes.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "indexing_ops.cc.inc"
      >();
  addInterfaces<MapAliases>();
}

mlir::Operation* IndexingDialect::materializeConstant(mlir::OpBuilder& builder,
                                                      mlir::Attribute value, mlir::Type type,
                                                      mlir::Location loc) {
  return mlir::arith::ConstantOp::materialize(builder, value, type, loc);
}

const IndexingMap& IndexingMapAttr::getMap() const { return getImpl()->map; }

IndexingMapAttr IndexingMapAttr::get(const IndexingMap& map) {
  if (map.IsKnownEmpty()) {
    return Base::get(map.context(),
                     IndexingMap::MakeEmpty(map.context(), map.num_dims(), map.num_ranges(),
                                            map.num_runtimes(), map.num_results()));
  }
  IndexingMap nameless = map;
  for (int i = 0; i < map.num_dims(); ++i) nameless.mutable_dim(i).name = {};
  for (int i = 0; i < map.num_ranges(); ++i) nameless.mutable_range(i).name = {};
  for (int i = 0; i < map.num_runtimes(); ++i) nameless.mutable_runtime(i).name = {};
  return Base::get(map.context(), std::move(nameless));
}

mlir::Attribute IndexingMapAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  if (parser.parseLess()) return {};
  const llvm::SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (parser.parseString(&text)) return {};
  MapParseError error;
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, parser.getContext(), &error);
  if (!map.ok()) {
    // A string without escapes, as every map is, is in the source as it is: after its quotation mark.
    const llvm::StringRef source(loc.getPointer() + 1, text.size());
    const size_t offset = source == text ? error.offset + 1 : 0;
    parser.emitError(llvm::SMLoc::getFromPointer(loc.getPointer() + offset), "no indexing map: ")
        << error.message;
    return {};
  }
  if (parser.parseGreater()) return {};
  return get(*map);
}

void IndexingMapAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<\"" << getMap().ToString() << "\">";
}

}  // namespace xla_indexing::dialect
