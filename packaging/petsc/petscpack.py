# petscpack for PETSc's configure: copy this file to $PETSC_DIR/config/BuildSystem/config/packages, and configure with
#   --download-petscpack=/path/petscpack-0.1.0.tar.gz       or the path of an unpacked source tree
# The plugin is compiled by its makefile.petsc after PETSc, with GPU code if PETSc has CUDA, and installed beside PETSc,
# with the programs petscpack-advise and petscpack-advise-html in the folder bin.
import os
import config.package

class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.download         = ['petscpack.tar.gz'] # configure wants a name here; the path comes from the command line
    self.functions        = []
    self.includes         = []
    self.complex          = 0
    self.precisions       = ['single', 'double']
    self.linkedbypetsc    = 0
    self.builtafterpetsc  = 1
    self.skippackagewithoptions = 1

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.setCompilers    = framework.require('config.setCompilers', self)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
    self.scalartypes     = framework.require('PETSc.options.scalarTypes', self)
    self.make            = framework.require('config.packages.make', self)
    self.mpi             = framework.require('config.packages.MPI', self)
    self.cuda            = framework.require('config.packages.CUDA', self)
    self.odeps           = [self.mpi, self.cuda]

  def consistencyChecks(self):
    config.package.Package.consistencyChecks(self)
    given = self.argDB['download-petscpack']
    if given and not isinstance(given, str):
      raise RuntimeError('petscpack has no address to download from: say --download-petscpack=/path/petscpack-<version>.tar.gz')

  def cudaArguments(self):
    '''Arguments for makefile.petsc: the nvcc and the architectures that PETSc is compiled with'''
    if not self.cuda.found: return ''
    if not self.cuda.cudaArchIsVersionList():
      raise RuntimeError('petscpack needs the numbers of GPU architectures, such as --with-cuda-arch=80,90')
    self.pushLanguage('CUDA')
    nvcc = self.getCompiler()
    self.popLanguage()
    return ' CUDA=1 NVCC=' + nvcc + ' CUDA_ARCH="' + ' '.join(self.cuda.cudaArchList()) + '"'

  def Install(self):
    if not self.checkSharedLibrariesEnabled():
      raise RuntimeError('petscpack is a plugin, which only a PETSc of shared libraries can load: remove --with-shared-libraries=0')
    if self.argDB['prefix'] and not 'package-prefix-hash' in self.argDB: # then PETSc is installed before petscpack is built
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      petsc  = ' PETSC_DIR=' + prefix + ' PETSC_ARCH=""'
    else:
      prefix = os.path.join(self.petscdir.dir, self.arch)
      petsc  = ' PETSC_DIR=${PETSC_DIR} PETSC_ARCH=${PETSC_ARCH}'
    arguments = ' -f makefile.petsc' + petsc + ' PREFIX=' + prefix + self.cudaArguments()
    plugin = os.path.join(prefix, 'lib', 'libpetscpack.' + self.setCompilers.sharedLibraryExt)
    self.include = [os.path.join(prefix, 'include')]
    self.lib     = [plugin]
    self.addPost(self.packageDir, [self.make.make_jnp + arguments, '${OMAKE}' + arguments + ' install'])
    self.addMakeCheck(self.packageDir, '${OMAKE}' + arguments + ' check')
    self.logPrintBox('The types of petscpack are there with: PETSC_OPTIONS="-dll_append ' + plugin + '"')
    return self.installDir
