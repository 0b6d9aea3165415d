// Integers that depend on tile sizes, tile indices and runtime variables.
//
// Mathematics. With t_i the size of a tile in dimension i, k_i its index there, and rt_i the value
// of a runtime variable, an expression is one of
//
//   constant, t_i, k_i, rt_i
//   a + b + ..              a sum; numbers are added up and stand last
//   a * b                   a constant, if there is one, stands last
//   a floordiv c, a ceildiv c, a mod c       c a positive constant; floor, ceiling, a - c floor(a/c)
//   min(a, b)
//   (a relation b ? c : d)  c where the relation holds, d elsewhere
//   ?                       what has no closed form
//
// Expressions do not change and share their parts, so that copies are cheap. What is obvious is
// simplified as they are made: operations on constants, 0 + x, 1 * x, equal summands, and in
// divisions the summands that the divisor divides. Nothing more is: equal values may have different
// expressions, and operator== compares how they are written.
//
// Text. As affine expressions are written, with every division in parentheses where it is part of
// something: `((k0 * t0) floordiv 8) * 2 + 3`. Names are t0, k0 and rt0 unless others are given.
//
// JSON. A number for a constant, null for `?`; else an object with one key for what it is:
//
//   {"size": 0}  {"index": 0}  {"runtime": 0}  {"sum": [a, b, ..]}  {"product": [a, b]}
//   {"floordiv": [a, 8]}  {"ceildiv": [a, 8]}  {"mod": [a, 8]}  {"min": [a, b]}
//   {"if": {"left": a, "relation": ">", "right": b}, "then": c, "else": d}
//
// the relations being "=", "<=", ">=", ">" and "multiple of".
//
// Example, the offset of a tile in (d0) -> (d0 floordiv 8), and what it is for tiles of 16:
//
//   const TileExpr offset = FloorDiv(TileExpr::Index(0) * TileExpr::Size(0), 8);
//   offset.ToString();               // (k0 * t0) floordiv 8
//   offset.Evaluate({16}, {3}, {});  // 6
//   offset.WithSizes({16});          // k0 * 2
//
// Errors. A value that does not fit int64, that of a variable for which none is given, and that of
// `?` are none. A divisor below 1 and a constant that does not fit give `?`.
#ifndef XLA_INDEXING_TILING_TILE_TILE_EXPR_H_
#define XLA_INDEXING_TILING_TILE_TILE_EXPR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

enum class TileRelation { kEqual, kAtMost, kAtLeast, kMoreThan, kMultipleOf };

// Whether the relation holds. Nothing is a multiple of 0.
bool HoldsFor(int64_t left, TileRelation relation, int64_t right);

// What variables are called in text; one that is not in its list has its default name.
struct TileNames {
  std::vector<std::string> sizes;
  std::vector<std::string> indices;
  std::vector<std::string> runtimes;
};

class TileExpr {
 public:
  enum class Kind {
    kConstant,  // value()
    kSize,      // of dimension value()
    kIndex,     // in dimension value()
    kRuntime,   // variable value()
    kSum,       // of operands()
    kProduct,   // of two operands()
    kFloorDiv,  // operands()[0] by value()
    kCeilDiv,
    kMod,
    kMin,     // of two operands()
    kChoice,  // operands()[0] relation() operands()[1] ? operands()[2] : operands()[3]
    kUnknown,
  };

  // 0.
  TileExpr() = default;
  TileExpr(int64_t constant) : value_(constant) {}  // NOLINT(google-explicit-constructor)
  static TileExpr Size(int dim) { return {Kind::kSize, dim}; }
  static TileExpr Index(int dim) { return {Kind::kIndex, dim}; }
  static TileExpr Runtime(int variable) { return {Kind::kRuntime, variable}; }
  static TileExpr Unknown() { return {Kind::kUnknown, 0}; }
  static TileExpr Sum(llvm::ArrayRef<TileExpr> summands);
  static TileExpr Choice(const TileExpr& left, TileRelation relation, const TileExpr& right,
                         const TileExpr& then, const TileExpr& otherwise);
  // An affine expression with these for its dimensions and symbols; `?` where one is missing.
  static TileExpr Of(mlir::AffineExpr expr, llvm::ArrayRef<TileExpr> dims,
                     llvm::ArrayRef<TileExpr> symbols);

  friend TileExpr operator+(const TileExpr& a, const TileExpr& b) { return Sum({a, b}); }
  friend TileExpr operator-(const TileExpr& a, const TileExpr& b) { return Sum({a, b * -1}); }
  friend TileExpr operator*(const TileExpr& a, const TileExpr& b);
  friend TileExpr FloorDiv(const TileExpr& a, int64_t divisor);
  friend TileExpr CeilDiv(const TileExpr& a, int64_t divisor);
  friend TileExpr Mod(const TileExpr& a, int64_t divisor);
  friend TileExpr Min(const TileExpr& a, const TileExpr& b);

  Kind kind() const { return kind_; }
  int64_t value() const { return value_; }
  TileRelation relation() const { return relation_; }
  llvm::ArrayRef<TileExpr> operands() const;

  bool IsConstant() const { return kind_ == Kind::kConstant; }
  bool IsKnown() const { return kind_ != Kind::kUnknown; }

  // The value; nullopt if it does not fit int64, as that of any part.
  std::optional<int64_t> Evaluate(llvm::ArrayRef<int64_t> sizes,
                                  llvm::ArrayRef<int64_t> indices = {},
                                  llvm::ArrayRef<int64_t> runtimes = {}) const;

  // The expression with others for its variables; a variable that is not in its list stays.
  TileExpr Substitute(llvm::ArrayRef<TileExpr> sizes, llvm::ArrayRef<TileExpr> indices = {},
                      llvm::ArrayRef<TileExpr> runtimes = {}) const;
  TileExpr WithSizes(llvm::ArrayRef<int64_t> sizes) const;

  std::string ToString(const TileNames& names = {}) const;
  std::string ToJson() const;

  // Indices are dimensions; symbols are the sizes, of which there are `num_sizes`, and then the
  // runtime variables. The product of an index and a size is semi-affine. Null if there is no
  // such expression: for a minimum, a choice, `?`, other products of variables, and numbers that
  // are too large.
  mlir::AffineExpr ToAffine(mlir::MLIRContext* context, int num_sizes) const;

  friend bool operator==(const TileExpr& a, const TileExpr& b);

 private:
  TileExpr(Kind kind, int64_t value) : kind_(kind), value_(value) {}
  TileExpr(Kind kind, int64_t value, std::vector<TileExpr> operands)
      : kind_(kind),
        value_(value),
        operands_(std::make_shared<const std::vector<TileExpr>>(std::move(operands))) {}
  // c and x of c * x, c being a constant.
  int64_t Factor() const;
  TileExpr WithoutFactor() const;
  // Divides the summands that the divisor divides; `rest` is the sum of the others.
  static TileExpr Quotients(const TileExpr& sum, int64_t divisor, TileExpr* rest);

  Kind kind_ = Kind::kConstant;
  TileRelation relation_ = TileRelation::kEqual;
  int64_t value_ = 0;
  std::shared_ptr<const std::vector<TileExpr>> operands_;
};

// The relation of two expressions, of which `8 mod t0 = 0` says that 8 is a multiple of t0.
std::string RelationText(const TileExpr& left, TileRelation relation, const TileExpr& right,
                         const TileNames& names = {});
std::string RelationJson(const TileExpr& left, TileRelation relation, const TileExpr& right);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_TILE_TILE_EXPR_H_
