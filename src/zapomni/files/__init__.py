"""The file system as zapomni sees it: what lies under a root, what is left out, what may be opened."""
