# Tells the Python package how it was built. The including file sets PETSC_VERSION, PETSC_LIBRARY_NAME and WHEEL_VARIANTS.
set(HAS_CUDA False)
if(SPMV_CUDA_ENABLED)
  set(HAS_CUDA True)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/_build_info.py.in ${CMAKE_BINARY_DIR}/_build_info.py @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/_build_info.py DESTINATION petscpack COMPONENT python)
