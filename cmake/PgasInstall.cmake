# Install rules, the exported package and pgas.pc.
