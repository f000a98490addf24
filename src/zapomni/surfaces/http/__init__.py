"""The HTTP API: every verb as a route of one table, on the same server as MCP."""
