# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause

# Installation and the package `serac`: components `host`, always there, `cuda`, there with a CUDA toolkit, and `compat`,
# a static library, there where it was built (compat/).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/serac)

foreach(component IN ITEMS host cuda)
  install(TARGETS serac_${component} EXPORT serac_${component} FILE_SET HEADERS)
  install(EXPORT serac_${component} NAMESPACE serac:: FILE serac-${component}-targets.cmake DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/serac-config.cmake.in ${PROJECT_BINARY_DIR}/serac-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/serac-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/serac-config.cmake ${PROJECT_BINARY_DIR}/serac-config-version.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/serac)
