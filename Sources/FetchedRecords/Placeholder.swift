// This module comes with a later commit.
