"""The contract: events, commands, records, topics, ports, errors. Imports nothing of ours."""
