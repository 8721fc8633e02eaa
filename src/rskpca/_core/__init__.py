"""Arrays in, arrays out: the primitives that everything else is built from."""
