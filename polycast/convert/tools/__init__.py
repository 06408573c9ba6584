"""The tools themselves. Each runs inside the sandbox: content in, files out, limits kept."""
