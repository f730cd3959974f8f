"""What students hand in: whose a file is, which sheet and version, how late; reading runs confined."""
