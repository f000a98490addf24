"""The MCP server: six tools, two resources and three prompts over one memory, by stdio and by HTTP."""
