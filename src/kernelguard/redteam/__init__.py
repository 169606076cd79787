"""The red team: attacks and honest twins as data, and the drill that runs them against the evaluator."""
