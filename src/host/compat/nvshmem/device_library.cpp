// Nothing: device code is in the headers.
