"""Types of arrays, named once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Of single or double precision.
Array = NDArray[np.floating]
#: Of double precision, of any number of dimensions.
Vector = NDArray[np.float64]
#: Numbers of rows, of folds, of groups.
Rows = NDArray[np.int64]
#: True or False for each row.
Flags = NDArray[np.bool_]
