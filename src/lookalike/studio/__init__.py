"""The studio catalog: generated furniture whose true similarity is known for every pair.

    studio(2_000) -> Studio -> catalog()       the table of its photos
                            -> draw(row)       one photo
                            -> similarity, true_labels, positives
                            -> experts, vote, consensus
                            -> truth_claims, expert_claims   measured properties of the catalog and of its experts

An item is a few numbers (`attributes`), drawn in style families (`families`). Its photos differ in view, light, room
and clutter (`scenery`, `clutter`). `furniture` builds it from solids, `rendering` ray-traces it.
The similarity of two items is a documented function of the numbers (`truth`).
"""

from lookalike.studio.claims import ExpertClaims, TruthClaims, expert_claims, truth_claims
from lookalike.studio.experts import Expert, consensus, experts, vote
from lookalike.studio.items import Studio, studio
from lookalike.studio.photos import contact_sheet, write_photos
from lookalike.studio.truth import THRESHOLD, positives, similarity, true_labels

__all__ = [
    "THRESHOLD",
    "Expert",
    "ExpertClaims",
    "Studio",
    "TruthClaims",
    "consensus",
    "contact_sheet",
    "expert_claims",
    "experts",
    "positives",
    "similarity",
    "studio",
    "true_labels",
    "truth_claims",
    "vote",
    "write_photos",
]
