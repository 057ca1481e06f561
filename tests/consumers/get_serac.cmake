# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause

# The two ways to get the library.
if(SERAC_FROM STREQUAL source)
  add_subdirectory(${SERAC_SOURCE_DIR} serac)
  foreach(part IN ITEMS TESTS EXAMPLES TOOLS COMPAT BENCH)
    if(SERAC_BUILD_${part})
      message(FATAL_ERROR "SERAC_BUILD_${part} is on in a subproject")
    endif()
  endforeach()
else()
  find_package(serac 0.1 REQUIRED COMPONENTS ${SERAC_COMPONENTS})
endif()
