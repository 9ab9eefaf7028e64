/*
  stage.c - the entries of vectors in the memory of a plan.

  A plan on the host takes what VecGetArray() gives. A plan on the GPU takes device pointers as they are; entries on the
  host travel through page-locked memory, which the copy engine reads and writes without the help of the processor.
*/
#include "seqaijfmt.h"

PetscErrorCode AIJFmtBufferFree(Mat_AIJFmt *s, AIJFmtBuffer *buffer)
{
  PetscFunctionBegin;
  spmv_pinned_free(buffer->pinned);
  spmv_exec_free(&s->exec, SPMV_DEVICE, buffer->device);
  buffer->pinned = buffer->device = NULL;
  buffer->bytes                   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reserve(Mat_AIJFmt *s, AIJFmtBuffer *buffer, size_t bytes)
{
  PetscFunctionBegin;
  if (bytes <= buffer->bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBufferFree(s, buffer));
  AIJFmtCallSpmv(&s->exec, spmv_pinned_alloc(&s->exec, (int64_t)bytes, &buffer->pinned));
  AIJFmtCallSpmv(&s->exec, spmv_alloc(&s->exec, SPMV_DEVICE, (int64_t)bytes, "vector", &buffer->device));
  buffer->bytes = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetArray(AIJFmtOperand *o, PetscBool device)
{
  const PetscScalar *read;

  PetscFunctionBegin;
  o->memtype = PETSC_MEMTYPE_HOST;
  if (!o->write) {
    if (device) PetscCall(VecGetArrayReadAndMemType(o->vec, &read, &o->memtype));
    else PetscCall(VecGetArrayRead(o->vec, &read));
    o->array = (PetscScalar *)read;
  } else if (o->update) {
    if (device) PetscCall(VecGetArrayAndMemType(o->vec, &o->array, &o->memtype));
    else PetscCall(VecGetArray(o->vec, &o->array));
  } else {
    if (device) PetscCall(VecGetArrayWriteAndMemType(o->vec, &o->array, &o->memtype));
    else PetscCall(VecGetArrayWrite(o->vec, &o->array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreArray(AIJFmtOperand *o, PetscBool device)
{
  PetscFunctionBegin;
  if (!o->write) {
    const PetscScalar *read = o->array;
    if (device) PetscCall(VecRestoreArrayReadAndMemType(o->vec, &read));
    else PetscCall(VecRestoreArrayRead(o->vec, &read));
  } else if (o->update) {
    if (device) PetscCall(VecRestoreArrayAndMemType(o->vec, &o->array));
    else PetscCall(VecRestoreArray(o->vec, &o->array));
  } else {
    if (device) PetscCall(VecRestoreArrayWriteAndMemType(o->vec, &o->array));
    else PetscCall(VecRestoreArrayWrite(o->vec, &o->array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of v in s->exec.space. write: they are overwritten there; update: they are read before that. */
PetscErrorCode AIJFmtOperandGet(Mat_AIJFmt *s, Vec v, AIJFmtBuffer *buffer, PetscBool write, PetscBool update,
                                AIJFmtOperand *o)
{
  const PetscBool device = s->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  size_t          bytes;

  PetscFunctionBegin;
  o->vec    = v;
  o->write  = write;
  o->update = update;
  o->buffer = NULL;
  PetscCall(VecGetLocalSize(v, &o->n));
  PetscCall(GetArray(o, device));
  o->data = o->array;
  if (!device || !PetscMemTypeHost(o->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  bytes = (size_t)o->n * sizeof(PetscScalar);
  PetscCall(Reserve(s, buffer, bytes));
  o->buffer = buffer;
  o->data   = buffer->device;
  if (write && !update) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemcpy(buffer->pinned, o->array, bytes));
  AIJFmtCallSpmv(&s->exec, spmv_copy(buffer->device, SPMV_DEVICE, buffer->pinned, SPMV_HOST, (int64_t)bytes, &s->exec));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands the entries back. A staged vector waits for the stream: its page-locked copy must not be reused before. */
PetscErrorCode AIJFmtOperandRestore(Mat_AIJFmt *s, AIJFmtOperand *o)
{
  const int64_t bytes = (int64_t)o->n * (int64_t)sizeof(PetscScalar);

  PetscFunctionBegin;
  if (o->buffer) {
    if (o->write)
      AIJFmtCallSpmv(&s->exec,
                     spmv_copy(o->buffer->pinned, SPMV_HOST, o->buffer->device, SPMV_DEVICE, bytes, &s->exec));
    AIJFmtCallSpmv(&s->exec, spmv_stream_wait(&s->exec));
    if (o->write) {
      PetscCall(PetscMemcpy(o->array, o->buffer->pinned, (size_t)bytes));
      PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
    }
  }
  PetscCall(RestoreArray(o, s->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
