// The extension module xla_indexing._lowering: computations as MLIR, and run in this process.
//
// It has LLVM's compiler, which is several times as large as all else, and is therefore a module of its own that is
// loaded when it is first asked. Modules come to it as text, so that the two share nothing.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/lowering/emit_fusion.h"
#include "xla_indexing/lowering/emit_tiles.h"
#include "xla_indexing/lowering/run/run_mlir.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace {

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): "name"_a
using namespace xla_indexing;  // NOLINT(google-build-using-namespace)

// The exception xla_indexing.Error.
[[noreturn]] void Raise(const absl::Status& status) {
  const nb::object type = nb::module_::import_("xla_indexing").attr("Error");
  nb::object error = type(nb::str(status.message().data(), status.message().size()));
  error.attr("code") = absl::StatusCodeToString(status.code());
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

template <typename T>
T ValueOf(absl::StatusOr<T> value) {
  if (!value.ok()) Raise(value.status());
  return *std::move(value);
}

// Element type, sizes, and dimensions from the most minor on.
using ArrayTypes = std::vector<std::tuple<std::string, std::vector<int64_t>, std::vector<int64_t>>>;

void AddLeaves(const Shape& shape, ArrayTypes* types) {
  for (const Shape* leaf : shape.Leaves()) {
    const Layout layout = leaf->LayoutOrRowMajor();
    types->emplace_back(
        std::string(ElementTypeName(leaf->element_type())),
        std::vector<int64_t>(leaf->dimensions().begin(), leaf->dimensions().end()),
        std::vector<int64_t>(layout.minor_to_major.begin(), layout.minor_to_major.end()));
  }
}

// A computation of a module's text.
struct Source {
  std::unique_ptr<HloModule> module;
  const HloComputation* computation = nullptr;
};

absl::StatusOr<Source> Read(const std::string& text, const std::string& name) {
  auto module = ParseAndVerifyModule(text);
  if (!module.ok()) return module.status();
  const HloComputation* computation = (*module)->FindComputation(name);
  if (computation == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no computation '", name, "'"));
  }
  return Source{*std::move(module), computation};
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Emit(const HloComputation& computation,
                                                       const std::optional<std::string>& tile_sizes,
                                                       bool one_pass, mlir::MLIRContext* context) {
  if (!tile_sizes && one_pass) {
    return absl::InvalidArgumentError("one_pass is of tiles, and no tile_sizes are given");
  }
  if (!tile_sizes) return EmitFusion(computation, context);
  const auto choose = [&](const TiledComputation& tiled) -> absl::StatusOr<Tiling> {
    const auto sizes = tiled.space().ParseSizes(*tile_sizes);
    if (!sizes.ok()) return sizes.status();
    return Tiling{*sizes, {}};
  };
  return EmitTiles(computation, choose, context,
                   one_pass ? TiledLoops::kOnePass : TiledLoops::kSeparate);
}

absl::StatusOr<std::string> EmitText(const std::string& text, const std::string& name,
                                     const std::optional<std::string>& tile_sizes, bool one_pass) {
  const absl::StatusOr<Source> source = Read(text, name);
  if (!source.ok()) return source.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = Emit(*source->computation, tile_sizes, one_pass, &context);
  if (!module.ok()) return module.status();
  std::string code;
  llvm::raw_string_ostream stream(code);
  (*module)->print(stream);
  return absl::StrCat(code, "\n");
}

// A computation as machine code.
class Function {
 public:
  static absl::StatusOr<std::unique_ptr<Function>> Compile(
      const std::string& text, const std::string& name,
      const std::optional<std::string>& tile_sizes, bool one_pass) {
    const absl::StatusOr<Source> source = Read(text, name);
    if (!source.ok()) return source.status();
    const std::unique_ptr<mlir::MLIRContext> context = MakeLoweringContext();
    auto module = Emit(*source->computation, tile_sizes, one_pass, context.get());
    if (!module.ok()) return module.status();
    absl::StatusOr<CompiledModule> compiled = CompiledModule::Compile(**module);
    if (!compiled.ok()) return compiled.status();
    std::unique_ptr<Function> function(new Function(name, *std::move(compiled)));
    for (const HloInstruction* parameter : source->computation->parameters()) {
      AddLeaves(parameter->shape(), &function->arguments_);
    }
    AddLeaves(source->computation->root_instruction()->shape(), &function->results_);
    function->is_of_tuple_ = source->computation->root_instruction()->shape().IsTuple();
    return function;
  }

  const ArrayTypes& arguments() const { return arguments_; }
  const ArrayTypes& results() const { return results_; }
  bool is_of_tuple() const { return is_of_tuple_; }

  // From the bytes of the arguments, in the order of memory, to those of the results.
  std::vector<nb::bytes> Run(const std::vector<nb::bytes>& arguments) {
    if (arguments.size() != arguments_.size()) {
      Raise(absl::InvalidArgumentError("not the arrays of the computation"));
    }
    std::vector<RunArray> arrays;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (static_cast<int64_t>(arguments[i].size()) != BytesOf(arguments_[i])) {
        Raise(absl::InvalidArgumentError("not the bytes of an argument"));
      }
      arrays.push_back(ArrayOf(arguments_[i]));
      arrays.back().bytes.assign(arguments[i].c_str(), arguments[i].c_str() + arguments[i].size());
      // LLVM takes the bits above those of a narrow integer to be 0.
      const int width = BitWidth(*ElementTypeFromName(std::get<0>(arguments_[i])));
      if (width < 8) {
        for (char& byte : arrays.back().bytes) byte &= static_cast<char>((1 << width) - 1);
      }
    }
    for (const auto& type : results_) {
      arrays.push_back(ArrayOf(type));
      arrays.back().bytes.assign(BytesOf(type), 0);
    }
    const absl::Status status = RunUntilInterrupted(arrays);
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    if (!status.ok()) Raise(status);
    std::vector<nb::bytes> results;
    for (size_t i = arguments.size(); i < arrays.size(); ++i) {
      results.emplace_back(arrays[i].bytes.data(), arrays[i].bytes.size());
    }
    return results;
  }

 private:
  Function(std::string name, CompiledModule compiled)
      : name_(std::move(name)), compiled_(std::move(compiled)) {}

  // Runs on a thread of its own, while this one looks for signals such as that of Ctrl-C.
  absl::Status RunUntilInterrupted(std::vector<RunArray>& arrays) {
    constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
    std::atomic<bool> stop = false;
    const nb::gil_scoped_release release;
    auto done = std::async(std::launch::async, [&] { return compiled_.Run(name_, arrays, &stop); });
    while (!stop && done.wait_for(kBetweenLooks) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquire;
      stop = PyErr_CheckSignals() != 0;
    }
    return done.get();
  }

  static int64_t BytesOf(const ArrayTypes::value_type& type) {
    const ElementType element = *ElementTypeFromName(std::get<0>(type));
    constexpr int64_t kMaxBytes = int64_t{1} << 46;
    int64_t bytes = std::max(BitWidth(element) / 8, 1);
    for (const int64_t size : std::get<1>(type)) {
      if (size != 0 && bytes > kMaxBytes / size) {
        Raise(absl::ResourceExhaustedError("an array has more than 2^46 bytes"));
      }
      bytes *= size;
    }
    return bytes;
  }
  static RunArray ArrayOf(const ArrayTypes::value_type& type) {
    const auto& [element, sizes, minor_to_major] = type;
    RunArray array;
    array.sizes = sizes;
    array.strides.resize(sizes.size());
    int64_t stride = 1;
    for (const int64_t dim : minor_to_major) {
      array.strides[dim] = stride;
      stride *= std::max<int64_t>(sizes[dim], 1);
    }
    return array;
  }

  std::string name_;
  CompiledModule compiled_;
  ArrayTypes arguments_;
  ArrayTypes results_;
  bool is_of_tuple_ = false;
};

template <typename Work>
auto WithoutGil(Work&& work) {
  const nb::gil_scoped_release release;
  return std::forward<Work>(work)();
}

}  // namespace

NB_MODULE(_lowering, m) {
  m.doc() = "Computations as MLIR. xla_indexing.lowering has all of this.";
  nb::set_leak_warnings(false);
  m.def(
      "emit",
      [](const std::string& text, const std::string& name,
         const std::optional<std::string>& tile_sizes, bool one_pass) {
        return ValueOf(WithoutGil([&] { return EmitText(text, name, tile_sizes, one_pass); }));
      },
      "text"_a, "name"_a, "tile_sizes"_a.none(), "one_pass"_a);
  nb::class_<Function>(m, "Function")
      .def_prop_ro("arguments", &Function::arguments)
      .def_prop_ro("results", &Function::results)
      .def_prop_ro("is_of_tuple", &Function::is_of_tuple)
      .def("run", &Function::Run, "arguments"_a);
  m.def(
      "compile",
      [](const std::string& text, const std::string& name,
         const std::optional<std::string>& tile_sizes, bool one_pass) {
        return ValueOf(
            WithoutGil([&] { return Function::Compile(text, name, tile_sizes, one_pass); }));
      },
      "text"_a, "name"_a, "tile_sizes"_a.none(), "one_pass"_a);
}
