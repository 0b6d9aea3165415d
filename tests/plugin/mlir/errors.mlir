// RUN: %opt --split-input-file --verify-diagnostics %s

// expected-error @below {{no indexing map: }}
#bad = #indexing.map<"(d0) -> (d1), domain: d0 in [0, 1]">

// -----

// expected-error @below {{no indexing map: }}
#bad = #indexing.map<"(d0) -> (d0">

// -----

// expected-error @below {{expected string}}
#bad = #indexing.map<(d0) -> (d0)>

// -----

// expected-error @below {{no indexing map: }}
#bad = #indexing.map<"(d0) -> (d0 * 99999999999999999999), domain: d0 in [0, 1]">

// -----

func.func @arguments(%i: index) -> index {
  // expected-error @below {{has 1 arguments for a map of 2 dimensions and 1 symbols}}
  %0 = indexing.apply #indexing.map<"(d0, d1)[s0] -> (d0 + s0), domain: d0 in [0, 1], d1 in [0, 1], s0 in [0, 1]">(%i)
  return %0 : index
}

// -----

func.func @results(%i: index) {
  // expected-error @below {{operation defines 1 results but was provided 2 to bind}}
  %0:2 = indexing.apply #indexing.map<"(d0) -> (d0), domain: d0 in [0, 1]">(%i)
  return
}

// -----

func.func @loop_without_end() {
  // expected-error @below {{goes over range variable 0, which is in [0, inf]}}
  indexing.loop #indexing.map<"()[s0] -> (), domain: s0 in [0, inf]">() {
  ^bb0(%s: index):
    indexing.yield
  }
  return
}

// -----

func.func @body() {
  // expected-error @below {{has a body of other arguments than 1 range variables, 1 results and 0 carried values}}
  indexing.loop #indexing.map<"()[s0] -> (s0), domain: s0 in [0, 3]">() {
  ^bb0(%s: index):
    indexing.yield
  }
  return
}

// -----

func.func @yield(%x: f32) {
  // expected-error @below {{has a body that does not yield the types that it carries}}
  %0 = indexing.loop #indexing.map<"()[s0] -> (), domain: s0 in [0, 3]">() iter_args(%x : f32) {
  ^bb0(%s: index, %carried: f32):
    indexing.yield
  }
  return
}

// -----

func.func @no_map(%i: index) -> index {
  // expected-error @below {{requires attribute 'map'}}
  %0 = "indexing.apply"(%i) : (index) -> index
  return %0 : index
}

// -----

func.func @no_values(%i: index) -> index {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "indexing.apply"(%i) {map = #indexing.map<"(d0) -> (), domain: d0 in [0, 1]">} : (index) -> index
  return %0 : index
}

// -----

func.func @other_attribute(%i: index) -> index {
  // expected-error @below {{An indexing map}}
  %0 = "indexing.apply"(%i) {map = affine_map<(d0) -> (d0)>} : (index) -> index
  return %0 : index
}
