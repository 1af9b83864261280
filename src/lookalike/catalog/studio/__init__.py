"""The studio catalog: generated furniture whose true likeness is known for every pair.

    studio(2_000) -> Studio -> catalog()       the table of its photos
                            -> draw(row)       one photo
                            -> similarity, true_labels, positives
                            -> experts, vote, consensus
                            -> truth_claims, expert_claims   what it says of itself, measured

An item is a few numbers (`attributes`), drawn in style families (`families`). Its photos differ in view, light, room
and clutter (`scenery`, `clutter`); its parts (`seats`, `cases`, `lamps`) are ray-traced (`solids`, `trace`, `looks`,
`light`, `room`, `render`). What is alike is a documented function of the numbers (`truth`).
"""

from lookalike.catalog.studio.claims import ExpertClaims, TruthClaims, expert_claims, truth_claims
from lookalike.catalog.studio.experts import Expert, consensus, experts, vote
from lookalike.catalog.studio.items import Studio, studio
from lookalike.catalog.studio.photos import contact_sheet, write_photos
from lookalike.catalog.studio.truth import THRESHOLD, positives, similarity, true_labels

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
