#!/bin/bash
set -u; say() { printf "%s\n" "$*"; }
mkdir -p /tmp/b && tar -C /tmp/b -xf bundle.tar.xz
export CUDA_HOME=/usr/local/cuda
cd /tmp/b/bundle
R=/tmp/out; mkdir -p $R
MG_MATRICES="tri_rcm:853 tet3_rcm:69 p1_rcm:114" LIMIT_mg=200 ./gpu_run.sh $R mg > $R/run.txt 2>&1
tail -n 60 $R/run.txt
tail -n 40 $R/mg.log
tar -C /tmp -cJf $OUT/out.tar.xz out
cat $R/summary.txt
