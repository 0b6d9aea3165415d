// The dialect `indexing`: indexing maps in MLIR. What an operation means is said in indexing_dialect.h.
#ifndef XLA_INDEXING_LOWERING_DIALECT_INDEXING_OPS
#define XLA_INDEXING_LOWERING_DIALECT_INDEXING_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Indexing_Dialect : Dialect {
  let name = "indexing";
  let summary = "Indexing maps as attributes, applied and looped over";
  let cppNamespace = "::xla_indexing::dialect";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Indexing_MapAttr : AttrDef<Indexing_Dialect, "IndexingMap"> {
  let mnemonic = "map";
  let summary = "An indexing map";
  let parameters = (ins AttrParameter<"::xla_indexing::IndexingMap", "the map",
                                      "const ::xla_indexing::IndexingMap&">:$map);
  let genStorageClass = 0;
  let storageClass = "MapStorage";
  let storageNamespace = "::xla_indexing::dialect";
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  // Names of variables are not kept: attributes that mean the same are one.
  let extraClassDeclaration = [{
    static IndexingMapAttr get(const ::xla_indexing::IndexingMap& map);
  }];
}

class Indexing_Op<string mnemonic, list<Trait> traits = []> : Op<Indexing_Dialect, mnemonic, traits>;

def Indexing_ApplyOp : Indexing_Op<"apply", [
    Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "The results of a map";
  let arguments = (ins Indexing_MapAttr:$map, Variadic<Index>:$args);
  let results = (outs Variadic<Index>:$values);
  let assemblyFormat = "qualified($map) `(` $args `)` attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Indexing_LoopOp : Indexing_Op<"loop", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock,
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "A loop over the domain of a map";
  let arguments = (ins Indexing_MapAttr:$map, Variadic<Index>:$args, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$carried);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    qualified($map) `(` $args `)` (`iter_args` `(` $inits^ `:` type($inits) `)`)? $body attr-dict
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasRegionVerifier = 1;
}

def Indexing_YieldOp : Indexing_Op<"yield", [Pure, Terminator, HasParent<"LoopOp">]> {
  let summary = "What a loop carries on";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif  // XLA_INDEXING_LOWERING_DIALECT_INDEXING_OPS
