"""Messages and stubs of package hone.v1, made when `hone` was built."""
