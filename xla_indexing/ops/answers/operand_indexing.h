// One indexing map of an operand together with what its runtime variables are bound to and how much
// it says.
//
// Mathematics. For a content of the tensors that bindings name, every runtime variable is a
// function of the point (d, s), so that the map is the relation
//
//   { d -> f(d, s, rt(d, s)) : some s with (d, s, rt(d, s)) in the domain },
//
// where a point whose binding names an element outside its tensor is not in the domain.
//
// In a program of several devices that relation is between elements of one device, for every
// device, unless there is a replica map (ops/answers/parts/replica_map.h), which says on which device the element
// is: with g the device that it names for the reader p, the relation is
//
//   { (p, d) -> (g(p, d, s, rt), f(d, s, rt)) :
//         some s with (d, s, rt) in the domain and (p, d, s, rt) in that of the replica map }.
//
// It takes part in everything: comparison, normal form, composition (devices compose as indices
// do), printing. Whoever makes a map out of another's parts has to take it along; maps without one
// cost nothing for it.
//
// Example, the operand of a dynamic-slice of f32[10] to f32[4] with the start `of`:
//
//   (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]
//     rt0: of, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]
//
// Copies share what they say until one of them changes, so that a copy costs no more than a pointer.
//
// Errors. Create() refuses parts that do not fit together, and nothing that is made of them later
// changes that: constructor and setters with kPartsFit (map/indexing_map.h) are for parts that are
// known to fit.

#ifndef XLA_INDEXING_OPS_ANSWERS_OPERAND_INDEXING_H_
#define XLA_INDEXING_OPS_ANSWERS_OPERAND_INDEXING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/check.h"
#include "xla_indexing/base/memory/copy_on_write.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/replica_map.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing {

class OperandIndexing {
 public:
  // One binding for each runtime variable of the map, in their order. InvalidArgument, with the
  // place and the numbers, unless
  //   - the map verifies;
  //   - every binding names an instruction and a leaf of its result that is an array, has one
  //     expression for each dimension of the array, over the map's dimensions, range variables and
  //     earlier runtime variables, and a device only where there is a replica map;
  //   - what the replica map says is over the map's variables and the reader (ops/answers/parts/replica_map.h);
  //   - all of them are of one MLIRContext.
  static absl::StatusOr<OperandIndexing> Create(
      IndexingMap map, RuntimeVarIndexings bindings = {},
      ExactnessLabel label = ExactnessLabel::Exact(),
      std::optional<ReplicaMap> replica_map = std::nullopt);
  explicit OperandIndexing(PartsFit, IndexingMap map, RuntimeVarIndexings bindings = {},
                           ExactnessLabel label = ExactnessLabel::Exact());

  // The exact answer that a map without runtime variables and constraints is whose results are in
  // normal form, some of them its range variables in their order, which are in no other. Simplify()
  // does not look at it again.
  static OperandIndexing InNormalForm(IndexingMap map) {
    return OperandIndexing(CopyOnWrite<Parts>(std::in_place, std::move(map), RuntimeVarIndexings(),
                                              ExactnessLabel::Exact(), nullptr,
                                              /*is_simplified=*/true));
  }

  // An answer that says nothing. Its map has neither variables nor results and no meaning.
  static OperandIndexing Unknown(mlir::MLIRContext* context, std::string reason);

  const IndexingMap& map() const { return parts_->map; }
  absl::Span<const RuntimeVarIndexing> bindings() const { return parts_->bindings; }
  const ExactnessLabel& label() const { return parts_->label; }
  bool IsExact() const { return label().IsExact(); }
  bool IsUnknown() const { return label().exactness == Exactness::kUnknown; }
  // Whether Simplify() has nothing to do.
  bool IsSimplified() const { return IsUnknown() || parts_->is_simplified; }
  // Never so for an unknown answer.
  bool IsKnownEmpty() const { return !IsUnknown() && (map().IsKnownEmpty() || HasNoReaders()); }

  // The device that is read; null: the reader itself.
  const ReplicaMap* replica_map() const { return parts_->replica_map.get(); }
  void SetReplicaMap(PartsFit, ReplicaMap replica_map) {
    PartsToChange().replica_map = std::make_shared<const ReplicaMap>(std::move(replica_map));
  }
  // The dimension of a replica map that stands for the reader.
  mlir::AffineExpr Reader() const;
  // Devices that the replica map, which there must be, can name.
  Interval DevicesRead() const;

  // Restricts the domain to the points with expr in interval, as IndexingMap::AddConstraint does.
  absl::Status AddConstraint(mlir::AffineExpr expr, Interval interval);
  // Replaces the interval of dimension `i`.
  void SetDimBounds(int i, Interval bounds) { PartsToChange().map.mutable_dim(i).bounds = bounds; }
  // Binds runtime variable `i` to something else.
  void SetBinding(PartsFit, int i, RuntimeVarIndexing binding) {
    Check(i >= 0 && i < map().num_runtimes(),
          "OperandIndexing::SetBinding() of a runtime variable that is not there");
    PartsToChange().bindings[i] = std::move(binding);
  }
  // The answer about other instructions: `rename` gives each binding, in their order, another
  // instruction and call path. That must be one to one between instructions of equal shapes, and
  // keep their order (CompareSources), so that a normal form stays one.
  OperandIndexing Renamed(PartsFit,
                          llvm::function_ref<void(RuntimeVarIndexing* binding)> rename) const;
  // The label becomes the weaker of its own and this one.
  void Weaken(const ExactnessLabel& label);

  // Brings map, bindings and replica map into normal form, as one system; the relation stays equal.
  // Of a map without bindings and replica map this is IndexingMap::Simplify. Runtime variables are
  // put in topological order (a variable stands after those that its element reads), where that
  // leaves a choice by source (CompareSources), element, value function and device.
  void Simplify();

  // The map from the dimensions of this map, and the symbols that the element uses, to the element
  // that runtime variable `i`, which there must be, is read from. Variables keep the names that
  // they have in this map.
  IndexingMap ElementMap(int i) const;
  // The map from the dimensions of this map and the reader to the device that the element is read
  // on; of a binding with a device.
  IndexingMap ElementDeviceMap(int i) const;
  // The replica map, which there must be, as a map with the whole domain.
  IndexingMap DeviceMap() const;

  // The map, its label where it is not exact, a line for each runtime variable and one for the
  // replica map, as print-indexing writes them; lines are separated, not ended, by line feeds.
  std::string ToString(const HloComputation* analysed = nullptr) const;
  // The first line of that: map and label.
  std::string MapToString() const;
  // A line for runtime variable `i` without the indentation:
  // `rt0: of, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]`.
  std::string BindingToString(int i, const HloComputation* analysed = nullptr) const;
  // `replica: (d0, d1) -> (d1 floordiv 2), domain: d0 in [0, 3], d1 in [0, 7]`; empty where there
  // is no replica map.
  std::string ReplicaToString() const;

  // Equal maps, bindings, replica maps and labels, compared as they are; names do not count. All
  // unknown answers with one reason are equal.
  friend bool operator==(const OperandIndexing& a, const OperandIndexing& b);
  friend bool operator!=(const OperandIndexing& a, const OperandIndexing& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const OperandIndexing& indexing) {
    h = H::combine(std::move(h), indexing.map(), indexing.label());
    for (const RuntimeVarIndexing& binding : indexing.bindings()) {
      h = H::combine(std::move(h), binding);
    }
    if (indexing.replica_map() != nullptr) h = H::combine(std::move(h), *indexing.replica_map());
    return h;
  }

  // Whether one is a copy of the other and neither has changed since.
  static bool AreCopies(const OperandIndexing& a, const OperandIndexing& b) {
    return a.parts_.SharesWith(b.parts_);
  }
  // Whether the two are written in the same way, but for their labels: syntactic equality of what
  // they say. SameRelation (map/sets/decide.h) asks whether maps mean the same.
  static bool IdenticalRelation(const OperandIndexing& a, const OperandIndexing& b) {
    return AreCopies(a, b) || (a.map() == b.map() && a.bindings() == b.bindings() &&
                               a.IsUnknown() == b.IsUnknown() && SameDevices(a, b));
  }

 private:
  struct Parts {
    IndexingMap map;
    RuntimeVarIndexings bindings;
    ExactnessLabel label;
    std::shared_ptr<const ReplicaMap> replica_map;
    bool is_simplified = false;  // nothing has changed since
  };
  explicit OperandIndexing(CopyOnWrite<Parts> parts);

  static bool SameDevices(const OperandIndexing& a, const OperandIndexing& b) {
    const ReplicaMap* of_a = a.replica_map();
    const ReplicaMap* of_b = b.replica_map();
    return of_a == of_b || (of_a != nullptr && of_b != nullptr && *of_a == *of_b);
  }
  bool HasNoReaders() const;
  void SimplifyAnew();
  // For what may change the normal form, and the relation.
  Parts& PartsToChange() {
    Parts& parts = parts_.Mutable();
    parts.is_simplified = false;
    return parts;
  }

  CopyOnWrite<Parts> parts_;
};

// A map without runtime variables (which it must be), read on any of `devices` by any of `readers`.
OperandIndexing OnAnyDevice(const OperandIndexing& indexing, const Interval& readers,
                            const Interval& devices);

// What takes the place of `first` followed by `second` where that cannot be said: `whole`, a map
// without runtime variables, on any of the devices that the two map to.
OperandIndexing OnDevicesOf(const OperandIndexing& first, const OperandIndexing& second,
                            const OperandIndexing& whole);

// The relation { d -> r : some m with d -> m in `first` and m -> r in `second` }, with the bindings
// of both over its variables; where one has a replica map, `second` and its bindings are those of
// the device that `first` names. Not simplified, but with runtime variables in topological order
// and merged where their bindings are equal.
//
// Exactness: exact after exact is exact; otherwise the weaker label counts. A composition that is
// known to be empty is exact whatever the labels.
//
// Both speak of one run of the program: the call paths of bindings start at the same computation.
//
// InvalidArgument where the results of `first` are not as many as the dimensions of `second`, and
// for maps of two contexts; OutOfRange where an expression would be too large. The caller then
// widens.
absl::StatusOr<OperandIndexing> ComposeOperandIndexing(const OperandIndexing& first,
                                                       const OperandIndexing& second);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_OPERAND_INDEXING_H_
