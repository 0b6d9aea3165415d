// The dimensions that a tiling of a computation can cut.
//
//   parallel    a dimension of a root: each of its tiles is computed for itself. Roots of equal
//               dimensions share them; those of other roots are linked where both roots read some
//               instruction along the same dimension of it.
//   sequential  a loop of a contraction, over whose steps it combines what it reads: a contracted
//               dimension of a dot, a scaled-dot or a ragged-dot, the features and window of a
//               convolution, a reduced dimension, the window of a reduce-window, the steps of a scan.
// All operands of the contraction share it.
//   runtime     the values of an offset that is known when the program runs. It moves tiles and is
//               not cut.
//
// A point of the space has a value for each parallel and each sequential dimension. The map from
// there to an instruction says which element of it is needed at that point, so that a tile of the
// space, a box, needs a tile of the instruction (tiling/tile/symbolic_tile.h).
//
// Example, the root r = f32[64,32] add(d, b) with d = dot of f32[64,128] and f32[128,32]: d0 and d1
// are parallel, of sizes 64 and 32 and owned by r; k is sequential, of size 128 and owned by d.
// From (d0, d1, k), d is read at (d0, d1), and its operands at (d0, k) and (k, d1).
#ifndef XLA_INDEXING_TILING_KERNEL_TILING_SPACE_H_
#define XLA_INDEXING_TILING_KERNEL_TILING_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

struct TilingDimension {
  enum class Kind { kParallel, kSequential, kRuntime };

  Kind kind = Kind::kParallel;
  // The root, the contraction, or the instruction that yields the offset, while its module lives.
  const HloInstruction* owner = nullptr;
  int64_t leaf = 0;      // of a root or an offset
  int64_t position = 0;  // of the dimension in the root's leaf, of the loop in the contraction
  // The number of its values: of a runtime dimension from the least to the greatest; INT64_MAX
  // where that has no bound.
  int64_t size = 0;
  // d0, d1, ..; k, or k0, k1, .. where there are several; rt0, rt1, ..
  std::string name;
  std::string owner_name = {};
  bool is_of_tuple = false;  // the owner's result is a tuple

  // A loop of another contraction that runs in one pass with that of the owner.
  struct Joined {
    const HloInstruction* owner = nullptr;
    int64_t position = 0;
    std::string owner_name;
  };
  std::vector<Joined> joined = {};
};

// Whether contractions that need one another's results may share a loop, in one pass over their
// dimension (tiling/kernel/tile_graph.h): then they have one dimension in the space.
enum class TiledLoops { kSeparate, kOnePass };

// "parallel", "sequential", "runtime".
absl::string_view NameOf(TilingDimension::Kind kind);

// An array of the computation's result: its dimension i is dimension dims[i] of the space.
struct TilingRoot {
  int64_t leaf = 0;  // of the computation's root instruction
  std::vector<int> dims;
};

class TilingSpace {
 public:
  TilingSpace(std::vector<TilingDimension> dims, std::vector<TilingDimension> runtimes,
              std::vector<TilingRoot> roots)
      : dims_(std::move(dims)), runtimes_(std::move(runtimes)), roots_(std::move(roots)) {}

  // Parallel dimensions, then sequential ones.
  absl::Span<const TilingDimension> dims() const { return dims_; }
  int num_dims() const { return static_cast<int>(dims_.size()); }
  absl::Span<const TilingDimension> runtimes() const { return runtimes_; }
  absl::Span<const TilingRoot> roots() const { return roots_; }

  bool IsParallel(int dim) const { return dims_[dim].kind == TilingDimension::Kind::kParallel; }
  std::vector<int64_t> DimSizes() const;

  // Sizes from text, by name (`d0=64,k=32`) or by position (`64,32`): parallel dimensions that are
  // not given are an error, sequential ones are whole. InvalidArgument names what does not fit.
  absl::StatusOr<std::vector<int64_t>> ParseSizes(absl::string_view text) const;

  // A line for each dimension: `d0: parallel, size 64, dimension 0 of r`.
  std::string ToString() const;

 private:
  std::vector<TilingDimension> dims_;
  std::vector<TilingDimension> runtimes_;
  std::vector<TilingRoot> roots_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_KERNEL_TILING_SPACE_H_
