# The spack package. It builds the source tree that it is called in: a clone, or the source archive of a release.
#
#   spack repo create repo && cp -r packaging/spack repo/packages/pgas && spack repo add repo && spack dev-build pgas@main
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Pgas(CMakePackage, CudaPackage):
    """One-sided communication for GPU kernels: a symmetric heap, signals, atomics and collectives."""

    license("Apache-2.0", checked_by="pgas")

    version("main")  # without an address: the archive of a release is on no server

    variant("tools", default=True, description="pgasrun and the other programs")
    variant("compat", default=False, description="The interfaces of OpenSHMEM and, with CUDA, NVSHMEM")
    variant("pmix", default=True, description="Join the PEs that mpirun and srun start")
    variant("ucx", default=True, description="PEs of several hosts")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("fmt@8:")
    depends_on("libsodium")
    depends_on("nlohmann-json", type="build")
    depends_on("cli11@2:", type="build", when="+tools")
    depends_on("pmix@4:", when="+pmix")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("zlib-api", when="+cuda")
    depends_on("cuda@12.4:", when="+cuda")

    requires("+tools", when="+compat", msg="nvshmrun and oshrun start pgasrun")
    conflicts("%gcc@:10", msg="pgas is written in C++20")
    conflicts("platform=darwin", msg="pgas needs Linux")

    def cmake_args(self):
        options = [
            self.define("PGAS_BUILD_TESTS", False),
            self.define("PGAS_BUILD_EXAMPLES", False),
            self.define("PGAS_UNITY_BUILD", True),
            self.define_from_variant("PGAS_BUILD_TOOLS", "tools"),
            self.define_from_variant("PGAS_BUILD_COMPAT", "compat"),
            self.define_from_variant("PGAS_CUDA", "cuda"),
            self.define_from_variant("PGAS_PMIX", "pmix"),
            self.define_from_variant("PGAS_UCX", "ucx"),
        ]
        if self.spec.satisfies("+cuda"):
            options.append(self.define_cuda_architectures(self))
        return options

    def setup_run_environment(self, env):
        # The library loads these two at run time, by name.
        for name in ("pmix", "ucx"):
            if self.spec.satisfies("+" + name):
                env.prepend_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
