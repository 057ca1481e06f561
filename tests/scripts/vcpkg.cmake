# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause

# Runs a portfile of vcpkg without vcpkg, with functions that do what its documentation says, of a release and of what
# the port of this tree asks for.
#   cmake -DPORT=NAME -DPORTS=FOLDER -DCURRENT_PACKAGES_DIR=FOLDER -DCURRENT_BUILDTREES_DIR=FOLDER -P vcpkg.cmake
cmake_minimum_required(VERSION 3.25)
set(build ${CURRENT_BUILDTREES_DIR}/rel)

macro(read_arguments one_value many_values)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "${one_value}" "${many_values}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "no stand-in knows ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT VCPKG_BUILD_TYPE STREQUAL release)
    message(FATAL_ERROR "the stand-ins know releases alone")
  endif()
endmacro()

function(vcpkg_cmake_configure)
  read_arguments(SOURCE_PATH OPTIONS)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${build} -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS}
    ERROR_VARIABLE errors COMMAND_ERROR_IS_FATAL ANY)
  if(errors)  # an option that is not used, for example
    message(FATAL_ERROR "${errors}")
  endif()
endfunction()

function(vcpkg_cmake_install)
  read_arguments("" "")
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target install COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Moves the package's CMake files to share/PORT, which is two folders below the prefix.
function(vcpkg_cmake_config_fixup)
  read_arguments(CONFIG_PATH "")
  file(GLOB files ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*)
  file(COPY ${files} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
  cmake_path(GET arg_CONFIG_PATH PARENT_PATH parent)
  if(parent MATCHES "(^|/)cmake$")
    set(arg_CONFIG_PATH ${parent})
  endif()
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH})
  file(GLOB files ${CURRENT_PACKAGES_DIR}/share/${PORT}/*.cmake)
  set(up "get_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\)\n")
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REGEX REPLACE "(${up})(${up})(${up})+" "\\1\\2" text "${text}")
    string(REGEX REPLACE "(PACKAGE_PREFIX_DIR \"\\\${CMAKE_CURRENT_LIST_DIR})/\\.\\./(\\.\\./)*" "\\1/../../"
      text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  read_arguments("" FILE_LIST)
  file(COPY_FILE ${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright)
endfunction()

include(${PORTS}/${PORT}/portfile.cmake)
