#!/usr/bin/env bash
# mpiexec of MPICH's wheel, on a UCX with CUDA in place of its own: MPI moves messages between the GPUs of this machine.
#
#   mpiexec_gpu.sh -n 2 ./program -use_gpu_aware_mpi 1
#
# LIBUCX            libucp.so.0 and its fellows, with the modules in its folder ucx (lib/ucx beside this file)
# STAGE_ALLREDUCE   the library that answers PETSc's start-up check (lib/libstage_allreduce.so beside this file)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ucx=${LIBUCX:-$here/lib/ucx}
stage=${STAGE_ALLREDUCE:-$here/lib/libstage_allreduce.so}
for file in "$ucx/libucp.so.0" "$ucx/ucx/libuct_cuda.so.0" "$stage"; do
  [[ -e $file ]] || { printf 'mpiexec_gpu.sh: %s is missing\n' "$file" >&2; exit 2; }
done
# MPICH's own shared memory does not know the GPU: MPIR_CVAR_NOLOCAL leaves messages within the machine to UCX too
exec mpiexec -genv LD_LIBRARY_PATH "$ucx${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" -genv UCX_MODULE_DIR "$ucx/ucx" \
  -genv UCX_TLS "${UCX_TLS:-self,sm,cuda_copy,cuda_ipc}" -genv MPIR_CVAR_NOLOCAL 1 -genv LD_PRELOAD "$stage" "$@"
