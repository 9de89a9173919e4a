"""The paper's studies, a folder for each, and what runs them."""

from textsignal.studies.hotels.study import HOTELS
from textsignal.studies.length.study import LENGTH
from textsignal.studies.run import Wanted, reproduce
from textsignal.studies.sample_size.study import OVERFITTING, SAMPLE_SIZE
from textsignal.studies.samples import Sample
from textsignal.studies.simulation.study import SIMULATION
from textsignal.studies.study import Study

__all__ = ["STUDIES", "Sample", "Study", "Wanted", "reproduce"]

#: Every study by its name.
STUDIES: dict[str, Study] = {study.name: study for study in (SIMULATION, HOTELS, SAMPLE_SIZE, LENGTH, OVERFITTING)}
