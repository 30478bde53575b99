"""Transports: they carry commands to hosts."""
