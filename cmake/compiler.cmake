# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause

# Warnings as errors, for this project's own programs; never exported. nvcc's generated host code is not pedantic.
add_library(serac_warnings INTERFACE)
set(host_warnings -Wall -Wextra -Werror)
list(JOIN host_warnings "," forwarded)
target_compile_options(serac_warnings INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:${host_warnings};-Wpedantic>"
  "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Werror=all-warnings;-Xcompiler=${forwarded}>")

# What programs that only check themselves are compiled with.
add_library(serac_self_check INTERFACE)
target_link_libraries(serac_self_check INTERFACE serac_warnings)

# CUDA programs that no GPU will run here: quickly. (nvcc's own -O is that of the host code; it overrides -Xcompiler.)
if(SERAC_QUICK_TESTS)
  string(REGEX REPLACE "-O[0-9]" "-O0" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
  set(SERAC_QUICK_OPTIONS -Xcicc=-O0 -Xptxas=-O0 -DSERAC_QUICK_TESTS)
  target_compile_options(serac_warnings INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${SERAC_QUICK_OPTIONS}>")
endif()

# The CUDA sources of the object library `target` are read as device code, with all warnings, and no code is generated.
function(serac_check_syntax target)
  set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES 90a-virtual)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.4)
    target_compile_options(${target} PRIVATE -fdevice-syntax-only)
  endif()
endfunction()

# Compiles `target` as C++20. (CMake 3.25 knows no CUDA20 for nvcc.)
function(serac_use_cxx20 target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
endfunction()
