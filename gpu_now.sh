#!/usr/bin/env bash
rm -rf /tmp/r; mkdir -p /tmp/r /tmp/h; cd /tmp/b
cuda=${CUDA_HOME:-/usr/local/cuda}; here=/tmp/b; say() { printf '%s\n' "$*"; }
export CUDA_MPS_PIPE_DIRECTORY=/tmp/nomps
( . ./gpu_part.sh; use_part /tmp/b
for m in stencil7:22 tet3_rcm:23 stencil7:46 tet3_rcm:32 stencil7:100 tet3_rcm:69 hex3:80; do for rep in 0 1; do
x=""; t="aijcusparse,aijrbp,aijcodsell"; [ $rep = 1 ] && x="-ksp_cgdevice_replace_cg" 
timeout 40 solve_bench -matrix $m -types $t -solvers cg_jacobi -steps 0 -changes 0 -repeat 5 -use_gpu_aware_mpi 0 $x -json /tmp/r/solve.$m.$rep.json > /tmp/r/solve.$m.$rep.log 2>&1; echo "$m $rep rc $?"; done; done ) > /tmp/r/solve.out 2>&1
LIMIT_mat=150 ./gpu_run.sh /tmp/r mat > /tmp/r/mat.out 2>&1
grep -E "^\+|^= status|FAILED|expected|ERROR|passed|failed" /tmp/r/mat.log | cut -c1-220 > /tmp/r/mat.short; [ $(stat -c %s /tmp/r/mat.log) -gt 2000000 ] && rm /tmp/r/mat.log
( . ./gpu_part.sh; use_part /tmp/b
export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps CUDA_MPS_LOG_DIRECTORY=/tmp/mps; mkdir -p /tmp/mps; nvidia-cuda-mps-control -d
common="-mat_aijfmt_device gpu -mat_aijfmt_products gpu -use_gpu_aware_mpi 0 -mat_no_inode -mat_aijfmt_decline 0"
for d in 0 1; do end=$((SECONDS+40)); for k in 1 2 3 4 5 6 7 8; do ( while ((SECONDS<end)); do for m in lengths_near_32 mixed_dofs; do mpiexec -n 2 conf_mat -matrix $m -operation from_options_hash -format $([ $((k%2)) = 0 ] && echo fold || echo codsell) -scratch /tmp/h/x.$d.$k $common -conf_mat_aijfmt_decline $d 2>&1 | grep -E "FAILED|passed"; done; done > /tmp/h/log.$d.$k ) & done; wait; echo "decline $d: runs $(cat /tmp/h/log.$d.* | grep -c passed) failed $(cat /tmp/h/log.$d.* | grep -c FAILED)"; done; echo quit | nvidia-cuda-mps-control ) > /tmp/r/mps.out 2>&1
export CUDA_MPS_PIPE_DIRECTORY=/tmp/nomps
LIMIT_fuzz=70 FUZZ_ARGS="--count 160 --ranks 2" ./gpu_run.sh /tmp/r fuzz > /tmp/r/fuzz.out 2>&1
find /tmp/r -size +2M -delete
