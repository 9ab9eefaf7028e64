# Sourced by gpu_run.sh, from the same folder of a bundle: sets up the libraries and the MPI for the programs of a part of the
# bundle. $cuda is the folder of the CUDA libraries.
# shellcheck shell=bash disable=SC2154

# Prints the folder of a library that the loader would not find by itself, or nothing
folder_of() {
  local found
  found=$(find "$cuda" /usr/local /usr/lib /opt -name "$1" -not -path '*/stubs/*' -print -quit 2>/dev/null)
  [[ -z $found ]] || dirname "$found"
}

# Prints the LD_LIBRARY_PATH for the programs of a part. The machine's own copies of the compiler's libraries come first,
# because its other programs may need newer ones.
library_path() {
  local part=$1 name folder path
  path=$part/lib:$part/lib/mpich:$cuda/lib64:$cuda/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  for name in $(find "$part/bin" "$part/lib" -type f -not -path '*/mpich/*' -not -path '*/lib/ucx/*' \
    -exec env LD_LIBRARY_PATH="$path" ldd {} + 2>/dev/null |
    awk '/not found/ { print $1 }' | sort -u); do
    if [[ -e $part/lib/compiler/$name ]]; then folder=$part/lib/compiler; else folder=$(folder_of "$name"); fi
    if [[ -n $folder ]]; then path+=:$folder; else say "library $name is not on this machine" >&2; fi
  done
  say "$path"
}

# Sets the environment of a step. Open MPI needs its new location, permission to run as root and with more ranks than cores,
# shared memory as the only transport, because there is one machine, and no binding of ranks to cores, which a container may
# forbid.
use_part() {
  local part=$1
  LD_LIBRARY_PATH=$(library_path "$part")
  PATH=$part/bin:$PATH:$cuda/bin
  export LD_LIBRARY_PATH PATH
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # BLAS threads of several ranks would compete for cores
  if [[ -d $part/lib/openmpi3 ]]; then
    export OPAL_PREFIX=$part OPAL_LIBDIR=$part/lib OPAL_SYSCONFDIR=$part/etc
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
    export OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_pcompress_base_silence_warning=1
  fi
}
