"""Edit an exported program, and keep its signature true."""
