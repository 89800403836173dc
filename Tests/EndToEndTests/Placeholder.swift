// These tests come with a later commit.
