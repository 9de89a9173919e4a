"""The paper's studies, one file each, and what runs them."""

from textsignal.studies.hotels import HOTELS
from textsignal.studies.length import LENGTH
from textsignal.studies.overfitting import OVERFITTING
from textsignal.studies.run import Wanted, reproduce
from textsignal.studies.sample_size import SAMPLE_SIZE
from textsignal.studies.samples import Sample
from textsignal.studies.simulation import SIMULATION
from textsignal.studies.study import Study

__all__ = ["STUDIES", "Sample", "Study", "Wanted", "reproduce"]

#: Every study by its name.
STUDIES: dict[str, Study] = {study.name: study for study in (SIMULATION, HOTELS, SAMPLE_SIZE, LENGTH, OVERFITTING)}
