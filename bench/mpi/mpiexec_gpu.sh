#!/usr/bin/env bash
# mpiexec of MPICH's wheel, with a UCX with CUDA instead of the wheel's, so that MPI sends messages between the GPUs of
# this machine.
#
#   mpiexec_gpu.sh -n 2 ./program -use_gpu_aware_mpi 1
#
# LIBUCX            the folder of libucp.so.0 etc., with the modules in its folder ucx (lib/ucx beside this file)
# STAGE_ALLREDUCE   the library that passes PETSc's start-up check (lib/libstage_allreduce.so beside this file)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ucx=${LIBUCX:-$here/lib/ucx}
stage=${STAGE_ALLREDUCE:-$here/lib/libstage_allreduce.so}
for file in "$ucx/libucp.so.0" "$ucx/ucx/libuct_cuda.so.0" "$stage"; do
  [[ -e $file ]] || { printf 'mpiexec_gpu.sh: %s is missing\n' "$file" >&2; exit 2; }
done
# MPICH's shared memory cannot send device memory: MPIR_CVAR_NOLOCAL leaves messages within the machine to UCX, too
exec mpiexec -genv LD_LIBRARY_PATH "$ucx${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" -genv UCX_MODULE_DIR "$ucx/ucx" \
  -genv UCX_TLS "${UCX_TLS:-self,sm,cuda_copy,cuda_ipc}" -genv MPIR_CVAR_NOLOCAL 1 -genv LD_PRELOAD "$stage" "$@"
