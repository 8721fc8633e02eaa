"""The paper's figures, tables and claims, made anew."""
