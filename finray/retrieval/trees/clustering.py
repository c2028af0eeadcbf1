"""Finds soft clusters of vectors: dimensionality reduction, then a Gaussian mixture whose size BIC chooses.

As in RAPTOR (Sarthi et al. 2024, arXiv 2401.18059, section 3) and its code, from which FinGEAR (arXiv 2509.12042,
section 5.1) takes its parameters. Everything is seeded: on one machine, the same vectors give the same clusters.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from finray.core.extras import extra
from finray.core.method_settings import TreeParameters
from finray.models.encoder import Vectors

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

Members = npt.NDArray[np.int64]
"""Ascending row numbers of one cluster."""

_SEED = 0
_PATIENCE = 6
"""The search for the number of components ends after this many without a smaller BIC; RAPTOR's code tries all 50."""
_LOCAL_NEIGHBORS = 10
_LINK = 1e-4
"""Weight of pairs that are not neighbors: a disconnected graph has no eigenmaps."""


def soft_clusters(vectors: Vectors, chosen: TreeParameters) -> list[Members]:
    """Clusters the rows of ``vectors`` (float32 [n, d], unit length): reduces all rows, then fits one mixture.

    Each row is in at least one cluster. ``chosen.dimension`` + 1 rows or fewer are one cluster.
    """
    if len(vectors) <= chosen.dimension + 1:
        return [np.arange(len(vectors))]
    neighbors = max(2, int((len(vectors) - 1) ** 0.5))
    return _clusters(vectors, neighbors, chosen)


def two_level_clusters(vectors: Vectors, chosen: TreeParameters) -> list[Members]:
    """RAPTOR's clusters: those of ``soft_clusters``, each clustered again by its closer neighborhoods."""
    found: list[Members] = []
    for outer in soft_clusters(vectors, chosen):
        if len(outer) <= chosen.dimension + 1:
            found.append(outer)
            continue
        found += [outer[inner] for inner in _clusters(vectors[outer], _LOCAL_NEIGHBORS, chosen)]
    return _distinct(found)


def _clusters(vectors: Vectors, neighbors: int, chosen: TreeParameters) -> list[Members]:
    with threadpool_limits(limits=1):  # the matrices are tiny; on a busy machine threads would wait for each other
        points = _reduced(vectors, neighbors, chosen)
        mixture = _best_mixture(points, chosen)
        probabilities = mixture.predict_proba(points)
    joins = probabilities > chosen.threshold
    joins[np.arange(len(points)), probabilities.argmax(axis=1)] = True
    return _distinct([np.flatnonzero(column) for column in joins.T if column.any()])


def _best_mixture(points: npt.NDArray[np.float64], chosen: TreeParameters) -> GaussianMixture:
    """The mixture with the smallest BIC (the first of equals)."""
    # Imported here and below: scikit-learn takes 2 s to import, and only building trees needs it.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    best, best_bic, best_size = None, np.inf, 0
    for size in range(1, min(chosen.max_clusters, len(points) - 1) + 1):
        mixture = GaussianMixture(size, random_state=_SEED, tol=chosen.convergence)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of duplicates among the points
            mixture.fit(points)
        bic = mixture.bic(points)
        if bic < best_bic:
            best, best_bic, best_size = mixture, bic, size
        elif size - best_size >= _PATIENCE:
            break
    assert best is not None
    return best


def _reduced(vectors: Vectors, neighbors: int, chosen: TreeParameters) -> npt.NDArray[np.float64]:
    """float64 [n, min(``chosen.dimension``, n - 2)]."""
    dimension = min(chosen.dimension, len(vectors) - 2)
    if chosen.reduction == "spectral":
        return _spectral(vectors, neighbors, dimension)
    with extra("trees", f"reduction = {chosen.reduction!r} (the setting's other value, 'spectral', needs nothing)"):
        import umap
    reducer = umap.UMAP(n_neighbors=neighbors, n_components=dimension, metric="cosine", random_state=_SEED, n_jobs=1)
    return np.asarray(reducer.fit_transform(vectors), dtype=np.float64)


def _spectral(vectors: Vectors, neighbors: int, dimension: int) -> npt.NDArray[np.float64]:
    """Laplacian eigenmaps of the graph of nearest neighbors by cosine, each scaled to unit variance."""
    from sklearn.manifold import SpectralEmbedding

    cosines = np.clip(vectors @ vectors.T, 0.0, None).astype(np.float64)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, : neighbors + 1]
    near = np.zeros(cosines.shape, dtype=bool)
    np.put_along_axis(near, nearest, True, axis=1)
    affinity = np.where(near | near.T, cosines, 0.0) + _LINK
    embedding = SpectralEmbedding(
        dimension, affinity="precomputed", random_state=_SEED, eigen_solver="arpack"
    ).fit_transform(affinity)
    deviation = embedding.std(axis=0)
    return np.asarray(embedding / np.where(deviation > 0, deviation, 1.0), dtype=np.float64)


def _distinct(clusters: Sequence[Members]) -> list[Members]:
    """Each set of rows once, in order of appearance."""
    return list({tuple(members.tolist()): members for members in clusters}.values())
