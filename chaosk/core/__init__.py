"""What every other part uses: errors, units, the base of typed values, plugins, words. Imports nothing of chaosk."""
