# Manual pages.
