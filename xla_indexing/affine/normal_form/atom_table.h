// The atoms of a simplifier, each of which is made once, and what expressions were found to be.
//
//   AtomTable atoms;
//   const Atom* d0 = atoms.Variable(mlir::getAffineDimExpr(0, context), known);
//   const Atom* known = atoms.Find(Atom::Kind::kFloor, sum, 4);   // null if there is none
//   Atom* made = atoms.New();   // to be filled in
//   const Atom* floor = atoms.Insert(made);
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_ATOM_TABLE_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_ATOM_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/object_arena.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/assumptions.h"

namespace xla_indexing::internal {

class AtomTable {
 public:
  // The atom of a dimension or a symbol, of which `known` says the range.
  const Atom* Variable(mlir::AffineExpr variable, const Assumptions& known);
  // A new atom for an expression whose normal form does not fit int64: it stays as it is.
  const Atom* Opaque(mlir::AffineExpr division);

  // The floor or mod of a dividend in mod-free form by `divisor`; null if it was not made yet.
  const Atom* Find(Atom::Kind kind, const QuasiAffineSum& dividend_mod_free_form,
                   int64_t divisor) const;
  // The atom of this division, where it is irreducible: then it is known without dividing.
  const Atom* FindIrreducible(Atom::Kind kind, const QuasiAffineSum& dividend,
                              int64_t divisor) const;
  // A new atom, which is not in the table before it is inserted.
  Atom* New() { return storage_.New(); }
  // Adds a floor or a mod, if there is none like it in the table yet. Returns the one that is.
  const Atom* Insert(const Atom* atom) { return *divisions_.insert(atom).first; }

  // What a floordiv or mod expression was found to be; null if it was not evaluated yet.
  const QuasiAffineSum* FindEvaluated(mlir::AffineExpr division) const;
  void SetEvaluated(mlir::AffineExpr division, const QuasiAffineSum& sum);

  // Forgets floors, mods and expressions; atoms stay where they are.
  void Forget();
  // Forgets everything.
  void Clear();

 private:
  // A floor or a mod is found by its kind, divisor and dividend in mod-free form.
  struct Key {
    Atom::Kind kind;
    const QuasiAffineSum& dividend_mod_free_form;
    int64_t divisor;
  };
  static Key KeyOf(const Atom* atom) {
    return {atom->kind, atom->dividend_mod_free_form, atom->divisor};
  }
  static Key KeyOf(const Key& key) { return key; }
  struct Hash {
    using is_transparent = void;
    template <typename T>
    size_t operator()(const T& entry) const {
      const Key key = KeyOf(entry);
      return key.dividend_mod_free_form.Hash() + static_cast<size_t>(key.divisor) * 2 +
             (key.kind == Atom::Kind::kMod ? 1 : 0);
    }
  };
  struct Equal {
    using is_transparent = void;
    template <typename T, typename U>
    bool operator()(const T& entry, const U& other) const {
      const Key a = KeyOf(entry);
      const Key b = KeyOf(other);
      return a.kind == b.kind && a.divisor == b.divisor &&
             a.dividend_mod_free_form == b.dividend_mod_free_form;
    }
  };

  ObjectArena<Atom> storage_;
  // Variables by position; null if they were not asked for.
  llvm::SmallVector<const Atom*, 8> dims_;
  llvm::SmallVector<const Atom*, 8> symbols_;
  absl::flat_hash_set<const Atom*, Hash, Equal> divisions_;
  absl::flat_hash_map<const void*, QuasiAffineSum> evaluated_;  // by the expression
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_ATOM_TABLE_H_
