"""Taking memories in and giving them out as files: one module a format, and the two verbs over them."""
