"""One model of every kind, and the rows to which they are fitted."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    KernelPCA,
    KernelPCANovelty,
    KMeansDensity,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
)
from rskpca.baselines import SparseKernelPCA, SubsampledKernelPCA, WeightedNystromKernelPCA
from tests.datasets import blobs

X = blobs(600, 3)
MODELS = [
    ReducedSetKernelPCA(3),
    ReducedSetKernelPCA(3, basis=0.5, refine="nystrom"),
    ReducedSetKernelPCA(3, density=KMeansDensity(30)),
    KernelPCA(3, kernel="rbf", gamma="median"),
    NystromKernelPCA(3, n_centers=30),
    WeightedNystromKernelPCA(3, n_centers=30),
    SubsampledKernelPCA(3, n_centers=30),
    SparseKernelPCA(3, n_centers=20),
    DiffusionMaps(3),
    LaplacianEigenmaps(3),
    NormalizedCut(3),
    KernelPCANovelty(ReducedSetKernelPCA(3)),
    make_pipeline(StandardScaler(), ReducedSetKernelPCA(3)),
]
