"""The paper's studies and readers of published reviews; not part of the installed package.

Run them from the root of the repository with ``make reproduction`` or ``python -m reproduction``.
"""

from reproduction.hotels import HOTELS
from reproduction.length import LENGTH
from reproduction.sample_size import OVERFITTING, SAMPLE_SIZE
from reproduction.samples import Sample
from reproduction.simulation import SIMULATION
from reproduction.study import Plan, Study, reproduce

__all__ = ["STUDIES", "Plan", "Sample", "Study", "reproduce"]

#: Studies by name.
STUDIES: dict[str, Study] = {study.name: study for study in (SIMULATION, HOTELS, SAMPLE_SIZE, LENGTH, OVERFITTING)}
