"""The MCP server: tools and resources over an index, for agents."""
