"""End-to-end tests: the hook in the real client, against a scripted model, with no network."""
