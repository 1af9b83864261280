"""All kinds of heads in one table."""

from types import MappingProxyType

from lookalike.encode.heads.adaptation import AdaptationHead, DiagonalHead
from lookalike.encode.heads.head import Head
from lookalike.encode.heads.pca import PcaHead
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead

KINDS = MappingProxyType[str, type[Head]](
    {one.kind: one for one in (ProjectionHead, ResidualHead, PcaHead, AdaptationHead, DiagonalHead)}
)
