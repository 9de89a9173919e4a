"""The paper's main sample of hotel reviews."""
