"""The plug-in rule: from probabilities to the best decisions under any price of unfairness."""
